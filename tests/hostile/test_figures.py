"""Figures that cannot be: no count, no cost, no crash; and a runtime budget that crashes anyway."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import trio

from avatar_actors import Budget, CostEvent, DiagnosticEvent, Outcome, open_runtime
from avatar_actors.avatar.messages import Charge, Release, RuntimeBudgetMessage
from avatar_actors.avatar.state.limits import Ledger, Limit
from avatar_actors.model.settings import LogSettings, MetricsSettings
from avatar_actors.model.values import Usage
from avatar_actors.wire.facts import Fact, TurnOver
from tests.hostile.lines import PATIENCE, line_avatar, orders, write
from tests.wire import acp_replay as acp
from tests.wire import claude_replay as claude
from tests.wire import gemini_replay as gemini
from tests.wire.test_claude_turns import in_turn as claude_in_turn

HUGE = 10**400


def end(**usage: object) -> dict[str, Any]:
    result = {"stopReason": "end_turn", "usage": usage}
    return write('{"id":$ID,"result":' + json.dumps(result) + "}")


def usage_of(facts: list[Fact]) -> Usage:
    [over] = [fact for fact in facts if isinstance(fact, TurnOver)]
    return over.usage


def remarks(facts: list[Fact]) -> list[str]:
    return [fact.message for fact in facts if isinstance(fact, DiagnosticEvent)]


async def test_h1_one_agents_figures_end_nobody_else(tmp_path: Path) -> None:
    budget = Budget(tokens=1000)
    log, metrics = LogSettings(file=tmp_path / "log"), MetricsSettings()
    with trio.fail_after(PATIENCE):
        async with open_runtime(budget=budget, log=log, metrics=metrics) as runtime:
            evil = await line_avatar(runtime, tmp_path, "evil", budget=budget)
            good = await line_avatar(runtime, tmp_path, "good", budget=budget)
            for figure in (HUGE, 10**4299, -5, 1.5, 2**53 + 1):
                answer = await evil.chat(orders(end(inputTokens=figure, outputTokens=1)))
                assert answer.outcome is Outcome.COMPLETED
            answer = await good.chat(orders(end(inputTokens=5.0, outputTokens=2)))
            assert answer.usage.tokens == 7
            assert (await runtime.spent()).tokens == 12
            assert not any(node.life > 1 for node in runtime.tree().walk())


@pytest.mark.parametrize("figure", [HUGE, -1, 2**53 + 1, 0.5, True, "7", None])
def test_h1_what_is_no_count_is_not_counted(figure: object) -> None:
    result = {"stopReason": "end_turn", "usage": {"inputTokens": figure, "outputTokens": 7.0}}
    assert usage_of(acp.in_turn().receive(acp.reply(2, result))).tokens == 7
    line = {"type": "result", "usage": {"input_tokens": figure, "output_tokens": 7.0}}
    assert usage_of(claude_in_turn().receive(claude.line_of(line))).tokens == 7
    stats = {"input_tokens": figure, "output_tokens": 7.0}
    lines = gemini.line_of({"type": "result", "status": "success", "stats": stats})
    assert usage_of(gemini.in_turn().receive(lines + gemini.ended())).tokens == 7


@pytest.mark.parametrize("figure", [HUGE, -1, 2**53 + 1])
def test_h1_a_figure_that_cannot_be_is_told(figure: int) -> None:
    result = {"stopReason": "end_turn", "usage": {"inputTokens": figure}}
    facts = acp.in_turn().receive(acp.reply(2, result))
    assert ["inputTokens" in words for words in remarks(facts)] == [True]
    line = {"type": "result", "total_cost_usd": figure}
    facts = claude_in_turn().receive(claude.line_of(line))
    assert ["total_cost_usd" in words for words in remarks(facts)] == [True]


def test_h1_money_never_becomes_infinite() -> None:
    wire = acp.in_turn()
    amounts = ["1e308", "0", "1e308", "1e999", "1" + "0" * 400, "2.5"]
    lines = [acp.update("usage_update", used=1.0, size=2, cost={"amount": "X"}) for _ in amounts]
    data = b"".join(
        line.replace(b'"X"', amount.encode()) for line, amount in zip(lines, amounts, strict=True)
    )
    costs = [fact.cost_usd for fact in wire.receive(data) if isinstance(fact, CostEvent)]
    assert costs == [0.0, 2.5]


def test_h1_a_limit_and_a_ledger_take_any_number() -> None:
    assert Limit(name="tokens", words="", most=1, spent=HUGE).fill == math.inf
    ledger = Ledger[int](Budget(tokens=5, cost_usd=1.0), "avatar")
    ledger.open(1)
    for usage in (Usage(input_tokens=HUGE), Usage(cost_usd=math.inf), Usage(cost_usd=math.nan)):
        ledger.report(1, usage)
        ledger.warnings()
        ledger.refusal()
        ledger.overrun()


@pytest.mark.parametrize("kind", [Charge, Release])
async def test_h1_a_runtime_budget_that_crashes_comes_back_with_its_books(
    tmp_path: Path, kind: type[Charge] | type[Release]
) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(budget=Budget(tokens=1000)) as runtime:
            one = await line_avatar(runtime, tmp_path, "one")
            two = await line_avatar(runtime, tmp_path, "two")
            await one.chat(orders(end(outputTokens=300)))
            await two.chat(orders(end(outputTokens=300)))
            [budget] = [node for node in runtime.tree().walk() if node.name == "runtime budget"]
            watch = budget.address.monitor()
            await budget.address.tell(_broken(kind))
            await watch.down()
            assert (await runtime.spent()).tokens == 600
            assert (await one.chat(orders(end(outputTokens=500)))).outcome is Outcome.COMPLETED
            assert (await runtime.spent()).tokens == 1100
            assert (await two.chat(orders(end()))).outcome is Outcome.OVER_BUDGET


def _broken(kind: type[Charge] | type[Release]) -> RuntimeBudgetMessage:
    """A message that no typed code can make, to stand for a defect that nobody knows."""
    account: Any = "nobody's"
    if kind is Charge:
        odd: Any = "no usage"
        return Charge(account, 1, odd)
    return Release(account, 1, Outcome.COMPLETED, account)
