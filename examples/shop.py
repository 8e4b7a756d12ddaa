"""The program of the README: a till that crashes once, comes back and adds on."""

from dataclasses import dataclass

import trio

from supervisors import ChildSpec, Inbox, Request, open_supervisor


@dataclass(frozen=True)
class Add(Request[int]):
    amount: int


async def cash_register(inbox: Inbox[Add]) -> None:
    total = 0
    async for add in inbox:
        if add.amount < 0:
            raise ValueError(f"{add.amount} is no price")
        total += add.amount
        inbox.reply(add, total)


async def main() -> None:
    async with open_supervisor("shop", intensity=3, period=5) as shop:
        till = await shop.start(ChildSpec("till", cash_register))
        print(await till.ask(Add(5)))
        await till.tell(Add(-1))  # crashes it; the supervisor starts it again
        await trio.sleep(0.1)
        print(await till.ask(Add(7)))  # the same address, a new life
        print(shop.tree())


if __name__ == "__main__":
    trio.run(main)
