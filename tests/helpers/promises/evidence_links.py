"""Where the evidence of findings is: what their links open, by the pages' own answers.

A link to the trace viewer is resolved as the page does it: the range of the address, or the step
that it names, and the events there that the search finds. A link to a table is resolved to the rows
that its filters leave.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from helpers.tables import records
from tbprof.advice.evidence import Evidence
from tbprof.advice.gathering import gather
from tbprof.advice.summaries import Summaries
from tbprof.analysis.host.single_ops import LONGEST_GAP_PS
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.run.outline import Outline
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import find_tool
from tbprof.engine.timelines.timeline_requests import HostTimeline, open_timeline
from tbprof.timeline.search.query import Query, parse_query
from tbprof.tools.model.datatable import Table

PS_PER_MS = 10**9
# Addresses are written with nine decimals of a ms.
_ROUNDING_PS = 1
_OVERVIEW_FINDINGS = 7


@dataclass(frozen=True)
class Claim:
    """A finding as the overview's table has it."""

    id: str
    title: str
    detail: str
    gain_ms: float | None
    tool: str
    query: str

    @property
    def view(self) -> dict[str, str]:
        """What the link's address holds."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


@dataclass(frozen=True)
class Shown:
    """What a link to the trace viewer opens: a range of a host, and what is marked in it.

    `events` are (start, end) in ps of the host's timeline, clipped to the range; `names` theirs.
    """

    host: str
    from_ps: int
    to_ps: int
    events: Sequence[tuple[int, int]]
    names: Sequence[str]

    @property
    def marked_ms(self) -> float:
        """The time of the range that marked events cover."""
        return self.run_ms(0)

    def run_ms(self, pause_ps: int) -> float:
        """The same with the pauses between two of them that last no longer than this."""
        return sum(end - begin for begin, end in _union(self.events, pause_ps)) / PS_PER_MS


def claims(engine: Engine, run: str, **params: str) -> list[Claim]:
    """The findings of a run."""
    table = engine.tables(DataRequest(run, "overview_page", params=params))[_OVERVIEW_FINDINGS]
    names = ("id", "title", "detail", "gain_ms", "evidence_tool", "evidence_query")
    return [Claim(*(row[name] for name in names)) for row in records(table)]


def check_claim(engine: Engine, run: str, claim: Claim) -> None:
    """Fails where the link of a finding does not show what the finding counts."""
    tools = {tool["name"]: tool for tool in engine.session(run)["tools"]}
    assert tools[claim.tool]["available"], (claim, tools[claim.tool]["reason"])
    if claim.tool != "trace_viewer":
        assert rows_shown(engine, run, claim), claim
        return
    shown = [*shown_events(engine, run, claim.view)]
    assert shown, claim
    for one in shown:
        assert one.from_ps < one.to_ps, claim
    if "q" in claim.view:
        assert any(one.events for one in shown), claim
    else:
        assert claim.id in _OF_STEPS, claim
    # In the range on the screen there is as much as the claim counts in a step of all.
    if claim.gain_ms is not None and claim.id not in _BETWEEN and "q" in claim.view:
        reach = max(one.run_ms(_WITH_PAUSES.get(claim.id, 0)) for one in shown)
        assert reach >= 0.95 * claim.gain_ms, (claim, reach)
    if claim.id in _OF_STEPS:
        counted_ms = _OF_STEPS[claim.id](evidence_of(engine, run)) / PS_PER_MS
        reach = float(counted_ms[opened_rows(evidence_of(engine, run).job, claim)].max())
        assert reach > 0, claim
        assert reach >= 0.95 * (claim.gain_ms or 0), (claim, reach)


# These count what lies between the events that their link marks.
_BETWEEN = frozenset(("gap_between_steps",))
# These count runs of the events that their link marks, with pauses that last no longer than this.
_WITH_PAUSES = {"eager_ops": LONGEST_GAP_PS}


def _excess_ps(evidence: Evidence) -> NDArray[np.int64]:
    """[rows of steps] how much longer they take than typical ones, 0 for typical ones."""
    job, outliers = evidence.job, evidence.outliers
    return np.where(outliers.is_outlier, outliers.excess_ps, 0)[job.step].astype(np.int64)


# Findings on time that no event marks: they open one worker's step, and count this part of it.
_OF_STEPS: Mapping[str, Callable[[Evidence], NDArray[np.int64]]] = {
    "all_others": lambda evidence: evidence.job.phase_ps[:, Phase.OTHER],
    "gap_between_steps": lambda evidence: evidence.gap_ps,
    "periodic_steps": _excess_ps,
    "slow_steps": _excess_ps,
}


def evidence_of(engine: Engine, run: str) -> Evidence:
    """What the findings of a run are drawn from."""
    parts = {name: engine.part(run, name) for name in find_tool("overview_page").parts}
    outlines = engine.outlines(engine.run(run))
    hosts = [host for host, one in outlines.items() if isinstance(one, Outline)]
    return gather(Summaries(tuple(hosts), parts, {}))


def opened_rows(job: JobSteps, claim: Claim) -> NDArray[np.int64]:
    """The rows of the job's steps that a link opens: its host, from its start to its end.

    Workers that step together have one range, in which all of them are seen.
    """
    begin, end = (round(float(claim.view[name]) * PS_PER_MS) for name in ("from_ms", "to_ms"))
    host = job.hosts.index(claim.view.get("hosts", job.hosts[0]))
    rows = np.flatnonzero(
        (job.worker_host[job.worker] == host)
        & (np.abs(job.start_ps - begin) <= _ROUNDING_PS)
        & (np.abs(job.start_ps + job.duration_ps - end) <= _ROUNDING_PS)
    )
    assert rows.size, claim
    assert {job.label[step] for step in job.step[rows].tolist()} == {claim.view["step"]}
    return rows


def shown_events(engine: Engine, run: str, view: Mapping[str, str]) -> Iterator[Shown]:
    """What the trace viewer shows of each host that the address asks for, and marks there."""
    wanted = view.get("hosts", "")
    hosts = [file.host for file in engine.run(run).files]
    chosen = [wanted] if wanted else hosts
    assert set(chosen) <= set(hosts), (wanted, hosts)
    assert len(chosen) == 1 or "from_ms" not in view, "times count from one host's own beginning"
    for host in chosen:
        parts = [open_timeline(engine, run, host, part, None) for part in ("events", "derived")]
        range_ps = _range(parts, view)
        if range_ps is None:
            continue
        found = [_found(part, view, *range_ps) for part in parts if view.get("q")]
        events = [event for events in found for event in events]
        begin, end = range_ps
        yield Shown(
            host,
            begin,
            end,
            [
                (max(begin, one["start_ps"]), min(end, one["start_ps"] + one["duration_ps"]))
                for one in events
            ],
            [one["name"] for one in events],
        )


def _range(parts: Sequence[HostTimeline], view: Mapping[str, str]) -> tuple[int, int] | None:
    """The range that is opened in ps of the host, None where the host has not the step."""
    if "from_ms" in view:
        begin, end = (float(view[name]) * PS_PER_MS for name in ("from_ms", "to_ms"))
        return round(begin) - _ROUNDING_PS, round(end) + _ROUNDING_PS
    if "step" in view:
        return _step_range(parts, view["step"])
    index = json.loads(parts[0].index())
    return index["begin_ps"], index["end_ps"] + 1


def _step_range(parts: Sequence[HostTimeline], label: str) -> tuple[int, int] | None:
    for part in parts:
        tracks = json.loads(part.index())["tracks"]
        kinds = [tracks["kinds"][kind] for kind in tracks["kind"]]
        answer = _search(part, parse_query(f"whole:{label}"))
        for hit in answer:
            if kinds[hit["track"]] == "steps":
                return hit["start_ps"], hit["start_ps"] + hit["duration_ps"]
    return None


def _found(
    part: HostTimeline, view: Mapping[str, str], from_ps: int, to_ps: int
) -> list[dict[str, Any]]:
    query = parse_query(
        view["q"], is_regex=view.get("regex") == "1", has_case=view.get("case") == "1"
    )
    return _search(part, query, from_ps, to_ps)


def _search(
    part: HostTimeline, query: Query, from_ps: int | None = None, to_ps: int | None = None
) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = []
    cursor = ""
    while True:
        answer = json.loads(
            part.search(query, limit=10_000, after=cursor, from_ps=from_ps, to_ps=to_ps)
        )
        hits += answer["hits"]
        cursor = answer["cursor"]
        if not cursor:
            return hits


def _union(spans: Sequence[tuple[int, int]], pause_ps: int = 0) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1] + pause_ps:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


# These are about all that their page shows.
_OF_PAGES = frozenset(("no_bottleneck", "no_steps"))


def rows_shown(engine: Engine, run: str, claim: Claim) -> int:
    """How many rows of the page's tables the link leaves, by its filters or what it chooses."""
    filters = {
        name.removeprefix("f."): text for name, text in claim.view.items() if name.startswith("f.")
    }
    chosen = {name: text for name, text in claim.view.items() if not name.startswith("f.")}
    payload = engine.tables(DataRequest(run, claim.tool, params=chosen))
    if "worker" in chosen:
        names = evidence_of(engine, run).job.worker_name
        return int(names[int(chosen["worker"])] in claim.title)
    if "memory_id" in chosen:
        filters["memory_id"] = f"={chosen['memory_id']}"
    if not filters:
        assert claim.id in _OF_PAGES, claim
        return sum(map(len, payload))
    with_columns = [
        table for table in payload if set(filters) <= {column.id for column in table.columns}
    ]
    assert with_columns, claim
    return max(_filtered(table, filters) for table in with_columns)


def _filtered(table: Table, filters: Mapping[str, str]) -> int:
    """The rows of a table that filters of the browser leave, see widgets/table/filter.ts."""
    columns = {name: table.column(name).cells() for name in filters}
    return sum(
        all(_passes(columns[name][row], text) for name, text in filters.items())
        for row in range(len(table))
    )


def _passes(cell: object, text: str) -> bool:
    if isinstance(cell, bool):
        return cell == (text == "yes")
    if isinstance(cell, int | float):
        assert text.startswith("<")
        return cell < float(text[1:])
    if cell is None:
        return False
    if text.startswith("="):
        return str(cell) == text[1:]
    if text.startswith("/"):
        return re.search(text[1 : text.rindex("/")], str(cell), re.IGNORECASE) is not None
    return text.lower() in str(cell).lower()
