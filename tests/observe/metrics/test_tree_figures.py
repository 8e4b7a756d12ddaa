"""Figures of the tree, from the loop and from other threads."""

import trio

from avatar_actors.observe.metrics.collector import TreeFigures, figures_of
from supervisors import ChildSpec, Inbox, Strategy, SupervisorSpec, open_supervisor


async def idle(inbox: Inbox[str]) -> None:
    inbox.ready()
    await trio.sleep_forever()


async def test_messages_are_summed_by_kind_of_actor_and_sessions_counted() -> None:
    session = SupervisorSpec("session", children=[ChildSpec("bridge", idle)])
    async with open_supervisor("runtime") as root:
        avatars = await root.start(SupervisorSpec("avatars", strategy=Strategy.DYNAMIC))
        for name in ("aria", "session"):
            avatar = await avatars.start(SupervisorSpec(name, children=[session]))
            [bridge] = [node for node in avatar.tree().walk() if node.name == "bridge"]
            for _ in range(3):
                await bridge.address.tell("x")
        figures = figures_of(root.tree())
        assert figures.sessions == 2
        assert figures.depths["bridge"] == 6
        assert {"aria", "session"} & set(figures.depths) == {"session"}
        assert "avatar" in figures.depths


async def test_a_thread_gets_the_tree_as_it_is() -> None:
    async with open_supervisor("runtime") as root:
        figures = TreeFigures(root.tree)
        one = await root.start(ChildSpec("one", idle))
        for _ in range(4):
            await one.tell("x")
        now = await trio.to_thread.run_sync(figures.now)
        assert now.depths["one"] == figures.now().depths["one"] == 4


def test_when_the_loop_is_over_the_last_look_stays() -> None:
    async def main() -> TreeFigures:
        async with open_supervisor("runtime") as root:
            await root.start(ChildSpec("one", idle))
            return TreeFigures(root.tree)

    assert "one" in trio.run(main).now().depths
