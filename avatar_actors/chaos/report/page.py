"""The report as one HTML page without scripts, fonts or network. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from avatar_actors.chaos.faults.kinds import KINDS
from avatar_actors.chaos.report.plots import compared, course, durations, timeline
from avatar_actors.chaos.report.report import ChaosReport, KindRow
from avatar_actors.chaos.report.summary import (
    alone_words,
    command,
    duration,
    effort_line,
    is_by_kind,
    left_words,
    share,
    sibling_ratio,
    triple,
    verdict,
)

_MEBIBYTE: Final = 2**20
_STYLE: Final = """
:root { color-scheme: light; --ink: #1c2530; --faint: #65707d; --line: #dfe4ea; --ok: #14723f;
  --bad: #b3261e; --blue: #2f6fb5; --orange: #d98200; --paper: #fff; --band: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1080px; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 8px; }
p { margin: 4px 0 8px; } .faint { color: var(--faint); } code { font-size: 13px;
  overflow-wrap: anywhere; }
.verdict { border-left: 6px solid var(--ok); background: #eaf5ee; padding: 10px 14px;
  margin: 14px 0; font-size: 17px; font-weight: 600; color: var(--ok); }
.verdict.bad { border-color: var(--bad); background: #fbebea; color: var(--bad); }
.cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px; }
@media screen and (max-width: 760px) { .cards { grid-template-columns: repeat(2, 1fr); } }
.card { border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px; }
.card b { display: block; font-size: 20px; font-weight: 600; white-space: nowrap; }
.card span { color: var(--faint); font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px;
  font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 3px 7px; border-bottom: 1px solid var(--line);
  white-space: nowrap; } th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
th:first-child, td:first-child, th.words { text-align: left; } td.words { white-space: normal;
  text-align: left; color: var(--faint); min-width: 220px; }
tr.bad td { color: var(--bad); font-weight: 600; }
.pair { display: grid; gap: 12px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }
.timeline { min-width: 720px; }
svg { width: 100%; height: auto; display: block; font: 11px system-ui, sans-serif; }
svg text { fill: var(--faint); } svg text.title { fill: var(--ink); font-size: 13px;
  font-weight: 600; }
svg line { stroke: var(--line); } .band { fill: var(--band); } .fault { fill: var(--blue);
  opacity: .75; } .bad rect, rect.bad { fill: var(--bad); } .course { fill: none;
  stroke: var(--blue); stroke-width: 1.5; }
.blue { fill: var(--blue); } .orange { fill: var(--orange); } .bars { opacity: .65; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } table { font-size: 8.5px; }
  th, td { padding: 2px 3px; } .wide { overflow: visible; } h2, p.faint { break-after: avoid; }
  .pair { break-inside: avoid; }
  .timeline { min-width: 0; } svg, tr, .card { break-inside: avoid; }
  @page { size: A4 landscape; margin: 12mm; } }
"""


def html_page(report: ChaosReport) -> str:
    """The whole document."""
    body = "".join(
        (
            _head(report),
            _cards(report),
            _section("Promises", "What must hold, whatever happens.", _promises(report)),
            _section("Faults by kind", _KIND_WORDS, _kinds(report)),
            _section("Each kind by itself", _ALONE_WORDS, _alone(report))
            if is_by_kind(report)
            else "",
            _section("Prompts to the avatars that were hit", _PROMPT_WORDS, _prompts(report)),
            _section("Faults and recoveries", _TIME_WORDS, _wide("timeline", timeline(report))),
            _section("How long it took", "Logarithmic scales.", _times(report)),
            _section("What grows", memory_line(report), _growth(report)),
            _section("What each fault is, and its proof", "", _legend(report)),
            _section("This run", "", _run(report)),
        )
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Chaos: {escape(verdict(report))}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


_KIND_WORDS: Final = (
    "Times are p50 / p99 / longest, from the moment the fault landed. Detect: until the host could "
    "know. Restart: until the next session was ready. Recovery: until a prompt that was sent "
    "afterwards had its answer. Availability: of all avatars' time, what was not lost to this kind."
)
_ALONE_WORDS: Final = (
    "The kinds came one after the other, each in a slice of the time to itself; after it all came "
    "to rest, and what there was more than before is what it left. Siblings: avatars without a "
    "fault of their own; their p99 is held against that of the time before all faults."
)
_PROMPT_WORDS: Final = (
    "What happened while the fault was dealt with; a prompt that was under way already is answered "
    "here, and was sent before. Failed: with an outcome, as crashed or timed out. Refused: the "
    "avatar was being replaced. Lost, and wrong: there must be none."
)
_TIME_WORDS: Final = (
    "Each bar is a fault, from its landing to the first answer afterwards; red: it did not land, "
    "or there was no answer."
)


def _section(title: str, words: str, content: str) -> str:
    lead = f'<p class="faint">{escape(words)}</p>' if words else ""
    return f"<section><h2>{escape(title)}</h2>{lead}{content}</section>"


def _head(report: ChaosReport) -> str:
    options = report.options
    look = "verdict" if report.is_ok else "verdict bad"
    order = ", one kind after the other" if is_by_kind(report) else ""
    return (
        f"<h1>Chaos: {options.avatars} avatars on {escape(options.provider)}</h1>"
        f'<p class="faint">{len(report.schedule):,} faults in {report.seconds:,.0f} s, one every '
        f"{duration(options.every)} on average{order}, seed {options.seed}</p>"
        f'<p class="{look}">{escape(verdict(report))}</p>'
    )


def _cards(report: ChaosReport) -> str:
    totals, prompts = report.totals, report.totals.prompts
    recoveries = [each.recovery for each in report.faults if each.recovery is not None]
    middle = sorted(recoveries)[len(recoveries) // 2] if recoveries else None
    ratio = sibling_ratio(report)
    cards = (
        (share(totals.availability), "availability under faults"),
        (f"{sum(row.landed for row in report.rows):,} / {len(report.schedule):,}", "faults landed"),
        (duration(middle), "recovery, median"),
        (f"{totals.restarts:,}", "restarts"),
        (f"{prompts.sent:,}", "prompts sent"),
        (f"{prompts.lost:,}", "prompts lost"),
        ("–" if ratio is None else f"{ratio:.2f} ×", "siblings' p99 against the baseline"),
        (f"{totals.dead_letters:,}", "dead letters"),
    )
    inside = "".join(
        f'<div class="card"><b>{escape(figure)}</b><span>{escape(words)}</span></div>'
        for figure, words in cards
    )
    return f'<div class="cards">{inside}</div>'


def _promises(report: ChaosReport) -> str:
    rows = [
        (
            "" if promise.is_kept else "bad",
            [promise.name, promise.count, promise.verdict],
            promise.words,
        )
        for promise in report.promises
    ]
    inside = "".join(
        f'<tr class="{look}">{_cells(cells)}<td class="words">{escape(words[:300])}</td></tr>'
        for look, cells, words in rows
    )
    examples = "".join(f"<li><code>{escape(words)}</code></li>" for words in report.examples[:20])
    return f"{_table(['', 'found', '', ''], inside)}<ul>{examples}</ul>"


def _kinds(report: ChaosReport) -> str:
    headings = ("fault", "landed", "detect", "restart", "recovery", "restarts each", "availability")
    rows = (
        (
            row.landed == row.planned,
            [
                row.kind.value,
                f"{row.landed}/{row.planned}",
                *(triple(each) for each in (row.detect, row.restart, row.recovery)),
                f"{row.restarts_each:.2f}",
                share(row.availability),
            ],
        )
        for row in report.rows
    )
    return _table(headings, "".join(_row(is_well, cells) for is_well, cells in rows))


def _alone(report: ChaosReport) -> str:
    headings = (
        *("fault", "dead letters", "siblings disturbed", "siblings' p99", "× baseline"),
        *("orphans", "zombies", "descriptors", "tasks", "threads", "directories"),
    )
    rows = (
        _row(
            row.alone is None or (row.alone.left.is_clean and not row.alone.disturbed),
            [row.kind.value, *alone_words(report, row), *left_words(row)],
        )
        for row in report.rows
    )
    return _table(headings, "".join(rows))


def _prompts(report: ChaosReport) -> str:
    headings = ("fault", "sent", "answered", "cancelled", "failed", "refused", "lost", "wrong")
    return _table(headings, "".join(_prompts_of(row) for row in report.rows))


def _prompts_of(row: KindRow) -> str:
    of = row.prompts
    counts = (of.sent, of.answered, of.cancelled, of.failed, of.refused, of.lost, row.breaches)
    return _row(not of.lost and not row.breaches, [row.kind.value, *(f"{n:,}" for n in counts)])


def _row(is_well: object, cells: Iterable[str]) -> str:
    return f'<tr class="{"" if is_well else "bad"}">{_cells(cells)}</tr>'


def _wide(look: str, content: str) -> str:
    return f'<div class="wide"><div class="{look}">{content}</div></div>'


def _times(report: ChaosReport) -> str:
    faults = report.faults
    series = [("baseline", report.baseline, "orange"), ("among faults", report.siblings, "blue")]
    plots = (
        durations("Detect", [each.detect for each in faults], "blue"),
        durations("Restart", [each.restart for each in faults], "blue"),
        durations("Recovery", [each.recovery for each in faults], "blue"),
        compared("Answers without a fault", series),
    )
    return f'<div class="pair">{"".join(plots)}</div>'


def memory_line(report: ChaosReport) -> str:
    """What is said about memory."""
    words = next((each.words for each in report.promises if each.name == "memory grows"), "")
    return f"Memory of the host: {words}."


def _growth(report: ChaosReport) -> str:
    samples = report.samples
    memory = [each / _MEBIBYTE for each in samples.memory]
    blocks = [each / 1000 for each in samples.blocks]
    plots = (
        course("Memory (RSS), MiB, by restarts", samples.restarts, memory, "restarts"),
        course("Blocks in use, thousands, by restarts", samples.restarts, blocks, "restarts"),
        course("Descriptors", samples.seconds, samples.descriptors, "s"),
        course("Tasks", samples.seconds, samples.tasks, "s"),
        course("Threads at work", samples.seconds, samples.threads, "s"),
    )
    return f'<div class="pair">{"".join(plots)}</div>'


def _legend(report: ChaosReport) -> str:
    rows = "".join(
        f'<tr><td>{row.kind.value}</td><td class="words">{escape(KINDS[row.kind].about)}</td>'
        f'<td class="words">{escape(KINDS[row.kind].proof)}</td></tr>'
        for row in report.rows
    )
    return _table(["fault", "what happens", "proof that it landed"], rows, "words")


def _run(report: ChaosReport) -> str:
    lines = [
        report.machine,
        effort_line(report),
        f"schedule {report.digest}",
        f"again: {command(report)}",
    ]
    if report.left_out:
        names = ", ".join(kind.value for kind in report.left_out)
        lines.append(f"left out, since {report.options.provider} plays no scripts: {names}")
    return "".join(f"<p><code>{escape(line)}</code></p>" for line in lines)


def _table(headings: Sequence[str], rows: str, look: str = "") -> str:
    head = "".join(f'<th class="{look}">{escape(each)}</th>' for each in headings)
    body = f"<tbody>{rows}</tbody>"
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>{body}</table></div>'


def _cells(cells: Iterable[str]) -> str:
    return "".join(f"<td>{escape(cell)}</td>" for cell in cells)
