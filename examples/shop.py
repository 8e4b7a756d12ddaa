"""The README's program: a till crashes once and comes back: `python -m examples.shop`."""

import trio

from supervisors import ChildSpec, Inbox, open_supervisor


async def till(inbox: Inbox[int]) -> None:
    async for cents in inbox:
        print(f"life {inbox.life}: {100 // cents} coins of {cents} make a euro")


async def main() -> None:
    async with open_supervisor("shop", intensity=3, period=5) as shop:
        address = await shop.start(ChildSpec("till", till))
        for cents in (5, 0, 20):  # the 0 crashes it, the 20 waits for its next life
            await address.tell(cents)
        await trio.sleep(0.1)
        print(shop.tree())


if __name__ == "__main__":
    trio.run(main)
