"""The calls of kernels: idle time and pauses before them, and latencies, from drawn traces."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from traces import Unsigned, draw, drawn_space, space_of

from tbprof.analysis.gpu.kernel_calls import UNKNOWN, KernelCalls, Unlinked, find_kernel_calls
from tbprof.analysis.gpu.kernels import Kernels, find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space

GPU, GPU1, HOST = "/device:GPU:0", "/device:GPU:1", "/host:CPU"
US = 1_000_000
KERNEL = {"kernel_details": "regs:32 grid:8,1,1 block:256,1,1"}


def calls_of(space: Space) -> tuple[Kernels, KernelCalls]:
    programs = Programs(space)
    kernels = find_kernels(space, programs)
    return kernels, find_kernel_calls(space, programs, kernels)


def drawn(planes: Mapping[str, str], ids: Mapping[str, int], kernels: str) -> Any:
    """By kernel its calls as (stream, duration, idle, pause, latency, queue), times in µs."""
    stats: dict[str, dict[str, object]] = {letter: dict(KERNEL) for letter in kernels}
    for letter, id_ in ids.items():
        stats[letter] = {**stats.get(letter, {}), "correlation_id": id_}
    names, calls = calls_of(drawn_space(planes, stats=stats))
    found: dict[str, list[tuple[object, ...]]] = {}
    for row, name in enumerate(names.name):
        for index in range(calls.first[row], calls.first[row + 1]):
            stream = int(calls.stream[index])
            times = (
                time if time < 0 else time / US
                for time in (
                    int(column[index])
                    for column in (calls.duration_ps, calls.idle_ps, calls.pause_ps,
                                   calls.latency_ps, calls.queue_ps)
                )
            )  # fmt: skip
            place = f"{calls.stream_device[stream]} {calls.stream_name[stream]}"
            found.setdefault(name, []).append((place, *times))
    return found


def test_a_call_has_the_pause_of_its_stream_the_idle_time_of_its_device_and_its_launch() -> None:
    calls = drawn(
        {
            HOST: "python |.LLL",
            GPU: """
                Stream #1 |mmmm.....kk
                Stream #2 |..cccc
            """,
        },
        {"L": 7, "k": 7},
        "mk",
    )
    assert calls == {
        "m": [("GPU:0 Stream #1", 4, UNKNOWN, UNKNOWN, Unlinked.NO_ID, Unlinked.NO_ID)],
        "k": [("GPU:0 Stream #1", 2, 3, 5, 8, 5)],
    }


def test_idle_time_is_counted_once_where_streams_go_on_together() -> None:
    calls = drawn(
        {GPU: "Stream #1 |a...k\nStream #2 |b...m", GPU1: "Stream #1 |c..n"}, {}, "abckmn"
    )
    assert [calls["k"][0][2:4], calls["m"][0][2:4]] == [(3, 3), (0, 3)]
    assert calls["n"][0][2:4] == (2, 2)


def test_events_of_a_stream_that_overlap_leave_no_pause() -> None:
    calls = drawn({GPU: "Stream #1 |aaaaaa..d\n          |.bb.c"}, {}, "abcd")
    assert [calls[letter][0][3] for letter in "abcd"] == [UNKNOWN, 0, 0, 2]


def test_a_kernel_that_starts_before_its_call_returns_does_not_queue() -> None:
    calls = drawn({HOST: "t |LLLLL", GPU: "Stream #1 |..k"}, {"L": 7, "k": 7}, "k")
    assert calls["k"][0][4:] == (2, 0)


def test_clocks_that_put_a_kernel_before_its_launch_are_said() -> None:
    calls = drawn({HOST: "t |..L", GPU: "Stream #1 |.k"}, {"L": 7, "k": 7}, "k")
    assert calls["k"][0][4:] == (Unlinked.EARLY, Unlinked.EARLY)


def test_an_id_that_no_call_has_is_another_reason_than_none() -> None:
    calls = drawn({HOST: "t |L", GPU: "Stream #1 |.k.m.n"}, {"L": 7, "k": 8, "n": 0}, "kmn")
    reasons = [calls[letter][0][4] for letter in "kmn"]
    assert reasons == [Unlinked.NO_LAUNCH, Unlinked.NO_ID, Unlinked.NO_ID]
    without_host = drawn({GPU: "Stream #1 |.k"}, {"k": 8}, "k")
    assert without_host["k"][0][4] == Unlinked.NO_LAUNCH


def test_only_the_first_kernel_of_a_graph_has_a_launch_latency() -> None:
    calls = drawn(
        {HOST: "t |L", GPU: "Stream #1 |..a.b\nStream #2 |...c"},
        {"L": 7, "a": 7, "b": 7, "c": 7},
        "ab",
    )
    assert [calls[letter][0][4] for letter in "ab"] == [2, Unlinked.FOLLOWS]


def test_an_id_that_is_used_again_means_the_latest_launch() -> None:
    calls = drawn(
        {HOST: "t |L..M", GPU: "Stream #1 |.a...b"}, {"L": 7, "M": 7, "a": 7, "b": 7}, "ab"
    )
    assert [calls[letter][0][4] for letter in "ab"] == [1, 2]


def test_ids_of_either_spelling_belong_together() -> None:
    ids = {"L": Unsigned(2**63 + 5), "k": 5 - 2**63}
    calls = drawn({HOST: "t |L", GPU: "Stream #1 |.k"}, ids, "k")
    assert calls["k"][0][4:] == (1, 0)


def test_copies_are_no_kernels_and_end_idle_time() -> None:
    calls = drawn({GPU: "Stream #1 |aa\nStream #2 |...cc.b"}, {}, "ab")
    assert calls["b"][0][2:4] == (1, 1)
    assert set(calls) == {"a", "b"}


def test_without_a_gpu_there_are_no_calls() -> None:
    kernels, calls = calls_of(drawn_space({HOST: "t |aa"}))
    assert (len(kernels.name), calls.first.tolist(), calls.stream.size) == (0, [0], 0)


class Event(NamedTuple):
    """An event of a random trace; times in µs, `id` 0 for none."""

    plane: str
    line: str
    name: str
    start: int
    end: int
    id: int
    order: int


def random_trace(seed: int) -> tuple[bytes, list[Event]]:
    """Two GPUs with streams that overlap, and threads; ids are missing, shared and used again."""
    chance = random.Random(seed)
    planes: dict[str, str] = {}
    events: list[Event] = []
    names: dict[str, str] = {}
    stats: dict[str, dict[str, object]] = {}
    for plane in (HOST, GPU, GPU1):
        drawing = ""
        for number in (1, 2, 3):
            line, at = f"line {number}", chance.randrange(6)
            cells = "." * at
            for _ in range(chance.randrange(9)):
                length, letter = chance.randint(1, 4), chr(0x4E00 + len(events))
                id_ = chance.choice([0, chance.randint(1, 12), chance.randint(1, 12)])
                name = chance.choice("kmc" if plane != HOST else "LM" if id_ else "x")
                events.append(Event(plane, line, name, at, at + length, id_, len(events)))
                names[letter] = name
                stats[letter] = {"correlation_id": id_} if id_ else {"other": 1}
                stats[letter] |= KERNEL if name in "km" else {}
                gap = chance.randrange(4)
                cells += letter * length + "." * gap
                at += length + gap
            drawing += f"{line} |{cells}\n"
        planes[plane] = drawing
    return draw(planes, names=names, stats=stats), events


def slowly(events: list[Event]) -> list[tuple[object, ...]]:
    """(kernel, device, line, duration, idle, pause, latency, queue) of each call, in µs."""
    work = [event for event in events if event.plane != HOST]
    launches = [event for event in events if event.plane == HOST and event.id]

    def launch_of(one: Event) -> Event | Unlinked:
        if not one.id:
            return Unlinked.NO_ID
        same = [call for call in launches if call.id == one.id]
        before = [call for call in same if call.start <= one.start]
        if not before:
            return Unlinked.EARLY if same else Unlinked.NO_LAUNCH
        return max(before, key=lambda call: (call.start, call.end))

    found = []
    for one in work:
        if one.name == "c":
            continue
        there = [other for other in work if other.plane == one.plane]
        sooner = [other for other in there if (other.start, other.order) < (one.start, one.order)]
        idle = max(0, one.start - max(other.end for other in sooner)) if sooner else UNKNOWN
        own = [other.end for other in sooner if other.line == one.line]
        launch = launch_of(one)
        latency = queue = int(launch) if isinstance(launch, Unlinked) else 0
        if isinstance(launch, Event):
            started = [other.start for other in work if launch_of(other) == launch]
            if one.start > min(started):
                latency = queue = Unlinked.FOLLOWS
            else:
                latency, queue = one.start - launch.start, max(0, one.start - launch.end)
        pause = one.start - max(own) if own else UNKNOWN
        place = (one.plane.removeprefix("/device:"), one.line)
        found.append((one.name, *place, one.end - one.start, idle, pause, latency, queue))
    return sorted(found)


@pytest.mark.parametrize("seed", range(25))
def test_calls_are_those_of_brute_force(seed: int) -> None:
    content, events = random_trace(seed)
    kernels, calls = calls_of(space_of(content))
    row = np.repeat(np.arange(len(kernels.name)), np.diff(calls.first))
    columns = (calls.duration_ps, calls.idle_ps, calls.pause_ps, calls.latency_ps, calls.queue_ps)
    found = [
        (
            kernels.name[row[at]],
            calls.stream_device[stream],
            calls.stream_name[stream],
            *(time if time < 0 else time // US for time in (int(column[at]) for column in columns)),
        )
        for at, stream in enumerate(calls.stream.tolist())
    ]
    assert sorted(found) == slowly(events)


def test_calls_of_a_row_add_up_to_it(gpu_trace: Path, amd_trace: Path) -> None:
    for path, number in ((gpu_trace, 1330), (amd_trace, 150)):
        kernels, calls = calls_of(read_space(path))
        assert np.diff(calls.first).tolist() == kernels.occurrences.tolist()
        assert np.add.reduceat(calls.duration_ps, calls.first[:-1]).tolist() == (
            kernels.total_ps.tolist()
        )
        assert calls.stream.size == number
        assert calls.latency_ps.min() > 0


def test_every_kernel_of_the_gpu_trace_has_the_launch_that_the_file_says(gpu_trace: Path) -> None:
    """Latencies by the events themselves, one by one."""
    space = read_space(gpu_trace)
    launches: dict[object, tuple[int, int]] = {}
    starts: list[tuple[object, int]] = []
    for plane in space.planes:
        events = plane.events()
        for index in range(len(events)):
            stats = dict(plane.details(int(events.source[index])))
            if "correlation_id" not in stats or events.lines.id[events.line[index]] < 0:
                continue
            start, duration = int(events.start_ps[index]), int(events.duration_ps[index])
            if plane.name == HOST:
                launches[stats["correlation_id"]] = (start, start + duration)
            elif "kernel_details" in stats:
                starts.append((stats["correlation_id"], start))
    _, calls = calls_of(space)
    expected = sorted((start - launches[id_][0], max(0, start - launches[id_][1]))
                      for id_, start in starts)  # fmt: skip
    found = zip(calls.latency_ps.tolist(), calls.queue_ps.tolist(), strict=True)
    assert sorted(found) == expected
