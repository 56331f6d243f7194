"""Flows: which events lead to which others, from drawn traces and real ones."""

import pytest
from builders import open_timelines
from builders.open_timelines import first
from traces import Unsigned, draw, drawn_space, space_of

from tbprof.base.errors import EventNotFound
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.flow_index import flow_index
from tbprof.timeline.questions.flows import flows
from tbprof.xplane.reader import read_space


def of(opened: OpenTimeline, name: str, **options: int) -> list[tuple[str, str, str]]:
    """(kind, from, to) of the flows of the first event of a name."""
    answer = flows(opened, first(opened, name), **options)
    return [(one["kind"], one["from"]["name"], one["to"]["name"]) for one in answer["flows"]]


def gpu() -> OpenTimeline:
    return open_timelines.opened_space(
        drawn_space(
            {
                "/host:CPU": """
                    python |oooooooo.pp
                           |.ll.mm
                """,
                "/device:GPU:0": "Stream #1 |...kkk.nn.x",
            },
            stats={
                "l": {"correlation_id": 7},
                "k": {"correlation_id": Unsigned(7)},
                "m": {"correlation_id": 8},
                "n": {"correlation_id": 8},
                "p": {"correlation_id": 9},
                "x": {"correlation_id": 0},
            },
        )
    )


def test_launches_lead_to_what_they_launched():
    opened = gpu()
    assert of(opened, "l") == of(opened, "k") == [("launch", "l", "k")]
    assert of(opened, "n") == [("launch", "m", "n")]
    assert of(opened, "p") == of(opened, "x") == []
    answer = flows(opened, first(opened, "k"))
    assert answer == {
        "flows": [
            {
                "kind": "launch",
                "from": {
                    "id": first(opened, "l"), "name": "l", "track": 0, "row": 1,
                    "start_ps": 1_000_000, "duration_ps": 2_000_000,
                },
                "to": {
                    "id": first(opened, "k"), "name": "k", "track": 1, "row": 2,
                    "start_ps": 3_000_000, "duration_ps": 3_000_000,
                },
            }
        ],
        "total": 1,
        "is_enclosed": False,
    }  # fmt: skip


def test_an_event_without_flows_has_the_launches_within_it():
    opened = gpu()
    assert of(opened, "o") == [("launch", "l", "k"), ("launch", "m", "n")]
    answer = flows(opened, first(opened, "o"), limit=1)
    assert (len(answer["flows"]), answer["total"], answer["is_enclosed"]) == (1, 2, True)
    assert flows(opened, first(opened, "p"))["is_enclosed"] is False


def test_a_number_that_is_used_again_is_of_the_latest_launch():
    content = draw(
        {"/host:CPU": "t |l..m..", "/device:GPU:0": "s |k.k.n"},
        stats={letter: {"correlation_id": 1} for letter in "klmn"},
    )
    opened = open_timelines.opened_space(space_of(content))
    assert of(opened, "l") == [("launch", "l", "k"), ("launch", "l", "k")]
    assert of(opened, "n") == of(opened, "m") == [("launch", "m", "n")]


def test_contexts_lead_from_producers_to_consumers():
    content = draw(
        {"/host:CPU": """
            a |pp.q
            b |..cc.d
            c |...e
        """},
        stats={
            "p": {"_pt": 1, "_p": Unsigned(2**64 - 5)},
            "q": {"_pt": 2, "_p": -5},
            "c": {"_ct": 1, "_c": -5},
            "d": {"_ct": 1, "_c": -5, "_pt": 2, "_p": -5},
            "e": {"_ct": 2, "_c": -5, "_pid": 77},
        },
    )  # fmt: skip
    opened = open_timelines.opened_space(space_of(content))
    assert of(opened, "p") == [("produce", "p", "c"), ("produce", "p", "d")]
    assert of(opened, "d") == [("produce", "p", "d")]
    assert of(opened, "e") == of(opened, "q") == []  # a consumer of another process


def test_contexts_that_everybody_shares_say_nothing():
    stats = {"p": {"_pt": 0, "_p": 0}, "c": {"_ct": 0, "_c": 0}}
    many = {"/host:CPU": "a |" + "p." * 70 + "\nb |" + "c." * 70}
    assert of(open_timelines.opened_space(drawn_space(many, stats=stats)), "p") == []
    some = {"/host:CPU": "a |" + "p." * 5 + "\nb |" + "c." * 70}
    opened = open_timelines.opened_space(drawn_space(some, stats=stats))
    answer = flows(opened, first(opened, "p"), limit=10)
    assert (len(answer["flows"]), answer["total"]) == (10, 70)
    assert flows(opened, first(opened, "c"))["total"] == 5


def flow(number: int, direction: int, category: int = 0) -> Unsigned:
    return Unsigned(category << 58 | number << 2 | direction)


def test_the_stat_flow_makes_a_chain():
    content = draw(
        {"/host:CPU": """
            a |ss.....x.z
            b |..m.m..y
            c |......e.w
        """},
        stats={
            "s": {"flow": flow(2**56 - 1, 2)},
            "m": {"flow": flow(2**56 - 1, 3)},
            "e": {"flow": flow(2**56 - 1, 1)},
            "x": {"flow": flow(5, 2, 63), "_a": 1},
            "w": {"flow": flow(5, 1, 63), "_a": 1},
            "y": {"flow": flow(5, 3, 7)},
            "z": {"flow": 0},
        },
    )  # fmt: skip
    opened = open_timelines.opened_space(space_of(content))
    chain = [("flow", "s", "m"), ("flow", "m", "m"), ("flow", "m", "e")]
    assert of(opened, "s") == of(opened, "e") == chain
    assert of(opened, "s", limit=1) == [("flow", "s", "m")]
    assert of(opened, "e", limit=1) == [("flow", "m", "e")]
    assert of(opened, "w") == [("async", "x", "w")]
    assert of(opened, "y") == of(opened, "z") == []


def test_programs_on_cores_are_launched_by_their_run():
    run = {"run_id": 3, "queue_id": 0, "core_type": 0}
    content = draw(
        {
            "/host:CPU": "t |a.b.c.d",
            "/device:TPU:1": "XLA Modules |.m\nXLA Ops |.o",
            "/device:TPU:2": "XLA Modules |.n",
        },
        names={
            "a": "DoEnqueueProgram",
            "b": "CompleteCallbacks",
            "c": "DoEnqueueProgram",
            "d": "x",
        },
        stats={
            "a": {**run, "device_ordinal": 1},
            "b": {**run, "device_ordinal": 1},
            "c": {**run, "device_ordinal": 1, "run_id": 4},
            "d": {**run, "device_ordinal": 1},
            "m": {**run, "run_id": 3 + (5 << 27)},
            "n": run,
        },
    )
    opened = open_timelines.opened_space(space_of(content))
    assert of(opened, "DoEnqueueProgram") == [
        ("launch", "DoEnqueueProgram", "m"), ("launch", "DoEnqueueProgram", "CompleteCallbacks")
    ]  # fmt: skip
    assert of(opened, "m") == [("launch", "DoEnqueueProgram", "m")]
    assert of(opened, "n") == of(opened, "x") == of(opened, "o") == []


def test_derived_events_have_no_flows():
    assert of(open_timelines.opened([[(0, 5, "a"), (1, 2, "b")]]), "a") == []


def test_an_event_that_is_not_there_is_refused():
    for event in (-1, 2):
        with pytest.raises(EventNotFound, match=f"no event {event}"):
            flows(open_timelines.opened([[(0, 5, "a"), (1, 2, "b")]]), event)


def test_launches_of_a_real_gpu_trace(gpu_trace):
    opened = open_timelines.opened_space(read_space(gpu_trace))
    index = flow_index(opened)
    timeline = opened.timeline
    launched = answered = 0
    for row in range(0, int(index.first[1]), 7):
        event = int(index.event[row])
        found = flows(opened, event)["flows"]
        launched += 1
        answered += bool(found)
        for one in found:
            assert event in (one["from"]["id"], one["to"]["id"])
            tracks = [timeline.tracks[one[side]["track"]] for side in ("from", "to")]
            planes = [opened.space.planes[track.plane].name for track in tracks]
            assert planes[0] == "/host:CPU"
            assert planes[1].startswith("/device:GPU")
    assert launched > 400
    assert answered == launched


def test_flows_of_a_real_tpu_trace(tpu_trace):
    opened = open_timelines.opened_space(read_space(tpu_trace))
    runs = [
        index
        for index in range(opened.timeline.start_ps.size)
        if opened.timeline.tracks[opened.columns.track[opened.timeline.row_of(index)]].plane == 0
        and opened.name(index).startswith("jit_")
    ]
    kinds = {
        (one["kind"], one["from"]["name"]) for at in runs for one in flows(opened, at)["flows"]
    }
    assert ("produce", "DoEnqueueProgram") in kinds
