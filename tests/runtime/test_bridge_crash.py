"""A crash of the bridge itself, not of the agent: the prompt that was sent is not sent again."""

from msgspec.structs import replace

from avatar_actors import AvatarSettings, Outcome
from avatar_actors.providers.registry import provider_named
from avatar_actors.wire.commands import Command, Prompt
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.wire import Wire
from tests.runtime.home import Home


class CrashingWire:
    """Raises on the first bytes that answer the first prompt of all its lives."""

    def __init__(self, wire: Wire, prompts: list[str]) -> None:
        self._wire, self._prompts = wire, prompts

    def command(self, command: Command) -> list[Fact]:
        if isinstance(command, Prompt):
            self._prompts.append(command.text)
        return self._wire.command(command)

    def receive(self, data: bytes) -> list[Fact]:
        if self._prompts == ["1+1"]:
            self._prompts.append("crash")
            raise RuntimeError("planted")
        return self._wire.receive(data)

    def end_of_stream(self) -> list[Fact]:
        return self._wire.end_of_stream()

    def data_to_send(self) -> bytes:
        return self._wire.data_to_send()


async def test_a_prompt_that_was_sent_is_not_sent_again_after_the_bridge_crashed(
    home: Home,
) -> None:
    prompts: list[str] = []
    embedded = provider_named("embedded")

    def wire(settings: AvatarSettings) -> Wire:
        return CrashingWire(embedded.wire(settings), prompts)

    async with home.runtime() as runtime:
        aria = await runtime.start(replace(embedded, wire=wire), "aria", **home.options())
        lost = await aria.chat("1+1")
        next_answer = await aria.chat("2+2")
    assert lost.outcome is Outcome.CRASHED
    assert next_answer.content == "4"
    assert prompts == ["1+1", "crash", "2+2"]
