"""Every event of recorded traces: ours against xprof's two trace viewers, event by event."""

import contextlib
import functools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parity.oracle import Compare
from traces import space_of

from tbprof.timeline.export.chrome import Host, chrome_trace

pytestmark = [pytest.mark.parity, pytest.mark.slow]

FULL, STREAMING = "trace_viewer", "trace_viewer@"
CASES = ("gpu", "tpu", "tensorflow_cpu", "jax_cpu")
HOST = 701
# What xprof takes for bookkeeping and leaves out; with what it says of memory.
BOOKKEEPING = {
    "MemoryAllocation", "MemoryDeallocation", "PrefetchProduce", "PrefetchConsume",
    "MapAndBatchProduce", "MapAndBatchConsume",
}  # fmt: skip
# It lists again the events that say when a thread of a pool worked, and when copies went on.
ADDED = ("ThreadpoolListener::Region", "offload-copy.")
DERIVED_FIRST = 0xDEADBEEF

Event = dict[str, Any]
Key = tuple[int, int, float, float, str]


@functools.cache
def ours(content: bytes) -> list[Event]:
    host = Host("h0", lambda: contextlib.nullcontext(space_of(content)))
    events: list[Event] = json.loads(b"".join(chrome_trace([host])))["traceEvents"]
    return events


@pytest.fixture
def both(
    case: str, compare: Compare, trace_of: Callable[[str], Path]
) -> tuple[list[Event], list[Event], list[Event]]:
    """(the full variant, the streaming one, ours) for one trace."""
    trace = trace_of(f"{case}_training" if case.endswith("_cpu") else f"{case}_trace")
    content = trace.read_bytes()
    answer = compare(content, tools=(FULL, STREAMING)).theirs
    *full, end = answer[FULL]["traceEvents"]
    assert end == {}
    return full, answer[STREAMING]["traceEvents"], ours(content)


def slices(events: list[Event]) -> Iterator[Event]:
    return (event for event in events if event["ph"] in ("X", "i", "b"))


def key(event: Event) -> Key:
    return event["pid"], event["tid"], event["ts"], event.get("dur", 0), event["name"]


def is_added(event: Event) -> bool:
    """Whether xprof shows an event that the file does not have."""
    return event["name"].startswith(ADDED) or event["tid"] >= DERIVED_FIRST


def metadata(events: list[Event], name: str) -> dict[tuple[int, int], str]:
    return {
        (event["pid"], event.get("tid", 0)): event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == name
    }


@pytest.mark.parametrize("case", CASES)
def test_processes_and_threads_have_their_numbers_and_names(case: str, both: Any) -> None:
    theirs, _, mine = both
    found = metadata(mine, "process_name")
    # Devices that recorded nothing are not listed.
    used = {event["pid"] for event in slices(theirs)}
    assert found == {
        at: name for at, name in metadata(theirs, "process_name").items() if at[0] in used
    }
    threads = metadata(mine, "thread_name")
    missing = metadata(theirs, "thread_name").items() - threads.items()
    assert {name for (_, thread), name in missing if thread < DERIVED_FIRST} <= {"Overlay"}
    extra = threads.items() - metadata(theirs, "thread_name").items()
    assert not extra


@pytest.mark.parametrize("case", ["gpu", "tensorflow_cpu", "jax_cpu"])
def test_events_are_those_of_xprof_at_the_same_times(case: str, both: Any) -> None:
    theirs, _, mine = both
    only_theirs = Counter(key(event) for event in slices(theirs) if not shown_anew(case, event))
    only_mine = Counter(key(event) for event in slices(mine))
    common = only_theirs & only_mine
    assert sum(common.values()) > 6000
    # Steps are called by their number there.
    renamed = {name for *_, name in only_theirs - common}
    assert {name.split(" ")[0] for name in renamed} <= {"train"}
    assert {name for *_, name in only_mine - common} <= BOOKKEEPING | {"train"}
    assert sum((only_theirs - common).values()) == sum(
        1 for *_, name in (only_mine - common).elements() if name == "train"
    )


def shown_anew(case: str, event: Event) -> bool:
    # The V100 trace has been derived from when it was recorded.
    return case != "gpu" and is_added(event)


@pytest.mark.parametrize("case", ["tpu"])
def test_events_of_tpus_are_those_of_xprof_on_the_devices_clock(case: str, both: Any) -> None:
    theirs, _, mine = both
    on_host = [
        Counter(key(event) for event in slices(events) if event["pid"] == HOST)
        for events in (theirs, mine)
    ]
    assert not on_host[0] - on_host[1]
    assert {name for *_, name in on_host[1] - on_host[0]} <= BOOKKEEPING

    def on_devices(events: list[Event]) -> Counter[tuple[int, int, str]]:
        return Counter(
            (event["pid"], event["tid"], event["name"])
            for event in slices(events)
            if event["pid"] != HOST and not is_added(event)
        )

    mine_only = on_devices(mine) - on_devices(theirs)
    assert not on_devices(theirs) - on_devices(mine)
    # Copies that overlap: xprof spreads them over rows of its own, and cuts their thread.
    assert {name for _, _, name in mine_only} == {"async-copy"}
    assert sum(mine_only.values()) == 600


@pytest.mark.parametrize("case", CASES)
def test_arguments_are_those_of_xprof_as_values(case: str, both: Any) -> None:
    theirs, _, mine = both
    known: dict[Key, list[Event]] = defaultdict(list)
    for event in slices(theirs):
        known[key(event)].append(event)
    compared = 0
    for event in slices(mine):
        if len(known[key(event)]) != 1:
            continue
        compared += 1
        wanted, found = known[key(event)][0].get("args", {}), event.get("args", {})
        # What xprof adds; and the number of the group that it finds, where the file has none.
        added = {"flow", "is_eager"} | ({"group_id"} if "group_id" not in found else set())
        assert wanted.keys() - found.keys() <= added
        assert found.keys() - wanted.keys() <= {"flops", "kernel_details"}
        # All of theirs are texts; and of several of a name they take the last.
        for name in found.keys() & wanted.keys() - {"_src"}:
            value = found[name]
            if str(value).endswith(" bytes>"):
                value = "<opaque bytes>"
            theirs_as_value = wanted[name] if isinstance(value, str) else float(wanted[name])
            assert theirs_as_value == value, name
    assert compared > 6000


@pytest.mark.parametrize("case", ["tpu", "tensorflow_cpu", "jax_cpu"])
def test_arrows_lead_where_those_of_xprof_do(case: str, both: Any) -> None:
    _, theirs, mine = both

    def arrows(events: list[Event], offset: int) -> set[frozenset[tuple[Any, ...]]]:
        groups = defaultdict(list)
        for event in events:
            if "bind_id" not in event or event["pid"] - offset != HOST:
                continue
            if not event["name"].startswith("ThreadpoolListener"):
                what = event["name"].split(" ")[0], event.get("cat"), "flow_in" in event
                groups[event["bind_id"]].append((event["tid"], event["ts"], *what))
        return {frozenset(group) for group in groups.values() if len(group) > 1}

    found, wanted = arrows(mine, 0), arrows(theirs, 1000)
    assert len(wanted) > 200
    assert len(wanted - found) < 0.01 * len(wanted), wanted - found
