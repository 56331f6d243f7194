"""Known mistakes of the trace viewer."""

from collections import Counter
from typing import Any

from helpers.asking import client_of
from helpers.payloads import document_of
from helpers.timeline_client import Timeline
from jobs.pages import Pages
from timeline.export.chrome_twin import in_order
from traces import draw, listed
from traces.misread_runs import appended

from mistakes.catalogue import Show, mistake

VIEWER = "trace viewer"
HOST, GPU = "/host:CPU", "/device:GPU:0"


def document(pages: Pages, **params: str) -> dict[str, Any]:
    """The trace of a run as JSON."""
    found: dict[str, Any] = document_of(pages.engine, pages.run, "trace_viewer", params=params)
    return found


def events(pages: Pages, **params: str) -> list[dict[str, Any]]:
    """The events of it that are in the file."""
    trace = document(pages, derived="0", **params)
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


@mistake(VIEWER, "It reports a filter that it has not applied.")
def nothing_is_filtered(show: Show) -> str:
    trace = document(show(appended()))
    assert "filteredByVisibility" not in trace
    assert trace["metadata"]["hosts"][0]["events"] == 1010
    return "1010 of 1010 events, and the document counts them"


@mistake(VIEWER, "The span of the trace is written with only six digits.")
def times_have_all_digits(show: Show) -> str:
    drawn = [("a", 0, 10**6), ("b", 98_102_500_123_456, 10**6)]
    found = events(show(listed({HOST: {"t": drawn}})))
    assert found[1]["ts"] == 98_102_500.123456
    return "98102500.123456 µs, as in the file"


@mistake(VIEWER, "Ranges lose long events that were written after short ones.")
def ranges_hold_what_overlaps_them(show: Show) -> str:
    found = events(show(appended()), start_time_ms="450", end_time_ms="550")
    assert Counter(event["name"] for event in found) == {"short": 101, "long": 2}
    return "2 of 2 long events"


@mistake(VIEWER, "The end of a large trace is cut off, and all arguments are strings.")
def arguments_are_values(show: Show) -> str:
    stats = {"n": 5, "share": 0.5, "flops": 7}
    [event] = events(show(draw({HOST: "t |k"}, stats={"k": stats})))
    assert event["args"] == stats
    return "no cap; n = 5, share = 0.5, flops = 7"


@mistake(VIEWER, "Of events that begin at the same time, the 256th and later ones are dropped.")
def events_of_one_moment(show: Show) -> str:
    assert len(events(show(listed({HOST: {"t": [("instant", 10**6, 10**5)] * 300}})))) == 300
    return "300 of 300 events"


@mistake(VIEWER, "The steps and ops of a GPU are below all streams.")
def steps_stand_above_streams(show: Show) -> str:
    trace = draw(
        {GPU: "Stream #1 |a\nSteps |b"},
        line_ids={"Steps": 0xDEADBEEF - 2**32, "Stream #1": 1},
        stats={"b": {"group_id": 1}},
    )
    order = in_order(document(show(trace), derived="0"))
    assert order == ["Steps", "Stream #1"]
    return ", ".join(order)


@mistake(VIEWER, "A filter drops events although there is room for them: it shows 600 of 1,000.")
def events_that_fit_are_shown(show: Show) -> str:
    pages = show(draw({HOST: f"t |{'ab' * 500}"}))
    found = events(pages, start_time_ms="0", end_time_ms="1")
    assert len(found) == 1000
    return "1000 of 1000 events"


@mistake(VIEWER, "Search is case-sensitive and only matches the beginning of names.")
def names_are_found_by_a_part(show: Show) -> str:
    names = {"a": "MatMul", "b": "batch_matmul_1"}
    pages = show(draw({HOST: "t |a.b"}, names=names))
    client = client_of(pages.logdir)
    answer = Timeline(client, pages.run).json("search", q="matmul")
    assert [hit["name"] for hit in answer["hits"]] == ["MatMul", "batch_matmul_1"]
    return "`matmul` finds MatMul and batch_matmul_1"
