"""What the programs with planted causes share: their clock, and how a case is recorded."""

import contextlib
import functools
import itertools
import json
import math
import os
import shutil
import statistics
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEPS = 14
FIRST = 20
# What recurs does so in the last of this many steps: 23, 27 and 31.
EACH = 4
PLANTED_S = 0.03
# What a step computes, so that a moment without a processor is a small part of it.
_WORK_S = 0.012

# A recording is disturbed if threads wait for a processor for this part of a usual step, and other
# programs have processors for that part of it: a program's own threads wait for each other, too.
_LONG = 0.5
_OTHERS = 0.1
_TRIES = 3

Body = Callable[[int], None]


def times_of_work(work: Callable[[], object]) -> int:
    """How often this machine does the work in the time of a step."""
    work()
    fastest = min(timeit.repeat(work, number=4, repeat=8)) / 4
    return math.ceil(_WORK_S / fastest)


def rounds() -> Iterator[int]:
    """Counts for as long as a planted cause lasts, however fast the machine is."""
    end = time.perf_counter() + PLANTED_S
    return itertools.takewhile(lambda _: time.perf_counter() < end, itertools.count())


@dataclass
class Clock:
    """When steps begin, and how long the planted cause took in each of them."""

    starts: list[float] = field(default_factory=list)
    planted: list[float] = field(default_factory=list)
    delayed: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    marked: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """A step begins, which ends the one before."""
        self.waited.append(thread_delayed_ms())
        self.starts.append(time.perf_counter())
        self.planted.append(0.0)
        self.delayed.append(0.0)

    @contextlib.contextmanager
    def planting(self) -> Iterator[None]:
        """Around the planted cause, on any thread."""
        delayed, begin = thread_delayed_ms(), time.perf_counter()
        yield
        self.add(time.perf_counter() - begin, thread_delayed_ms() - delayed)

    def add(self, seconds: float, delayed: float = 0.0) -> None:
        """What a cause took that measured itself, and how long (ms) it lacked a processor."""
        if self.planted:
            self.planted[-1] += seconds
            self.delayed[-1] += delayed

    def mark(self) -> None:
        """The step has the cause: what it takes beyond steps without is what was planted."""
        self.marked.add(len(self.starts) - 1)

    def run(self, body: Body) -> None:
        """The steps of a loop."""
        for number in range(FIRST, FIRST + STEPS):
            self.begin()
            body(number)
        self.begin()

    def rows(self) -> list[dict[str, float]]:
        """`number`, and in ms `whole`, `planted` and of that `delayed`, `held_up`, of each step.

        While it was delayed, the thread waited for a processor that others had; `held_up` is the
        same of the loop's thread outside of what is planted.
        """
        whole = [end - start for start, end in itertools.pairwise(self.starts)]
        waited = [end - start for start, end in itertools.pairwise(self.waited)]
        for at in self.marked:
            usual = statistics.median(
                time for other, time in enumerate(whole) if other not in self.marked
            )
            self.planted[at] = whole[at] - usual
        return [
            {
                "number": FIRST + at,
                "whole": 1e3 * time,
                "planted": 1e3 * planted,
                "delayed": delayed,
                "held_up": max(0.0, waits - delayed),
            }
            for at, (time, planted, delayed, waits) in enumerate(
                zip(whole, self.planted, self.delayed, waited, strict=False)
            )
        ]


@dataclass(frozen=True)
class Case:
    """A program: `build` compiles it and gives the body of its loop, with the cause or without.

    `python` is whether Python frames are asked for. A case that `has_own_loop` is called once and
    says when its steps begin and the last one ends.
    """

    build: Callable[[Clock, bool], Body]
    python: bool = True
    has_own_loop: bool = False


def delayed_ms() -> float:
    """How long all threads were ready and waited for a processor, 0 if unknown."""
    return sum(_delayed_ms(path) for path in Path("/proc/self/task").glob("*/schedstat"))


def thread_delayed_ms() -> float:
    """How long this thread was ready and waited for a processor, 0 if unknown."""
    path = Path("/proc/thread-self/schedstat")
    return _delayed_ms(path) if path.exists() else 0.0


def _delayed_ms(path: Path) -> float:
    """Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat."""
    return int(path.read_text(encoding="ascii").split()[1]) / 1e6


def others_ms() -> float:
    """How long all other programs together have had a processor, infinite if unknown.

    Source: Linux, Documentation/filesystems/proc.rst, /proc/stat.
    """
    path = Path("/proc/stat")
    if not path.exists():
        return math.inf
    user, nice, system, _idle, _waiting, *others = path.read_text("ascii").split(maxsplit=9)[1:9]
    busy = sum(map(int, (user, nice, system, *others)))
    own = os.times()
    return 1e3 * (busy / os.sysconf("SC_CLK_TCK") - own.user - own.system)


Recording = Callable[[Path, bool], contextlib.AbstractContextManager[object]]


def record_cases(cases: Mapping[str, Case], recording: Recording) -> None:
    """Records the cases that the command line names after the folder, or all.

    Leaves FOLDER/CASE/planted/plugins/profile/..., FOLDER/CASE/without/... and beside each a JSON
    file of what the program's clock measured: `steps`, see `Clock.rows`, and `delayed`, how many ms
    of a step all threads together waited for a processor. Where that was long and other programs
    had the machine, the program is recorded again, and the best recording kept.
    """
    target, *wanted = sys.argv[1:]
    for name in wanted or cases:
        for kind in ("planted", "without"):
            folder = Path(target, name, kind)
            body_of = functools.partial(cases[name].build, plant=kind == "planted")
            tries: list[tuple[float, Path, dict[str, Any]]] = []
            is_disturbed = True
            while is_disturbed and len(tries) < _TRIES:
                place = folder.with_name(f"{kind}.{len(tries)}")
                truth = _record(cases[name], body_of, recording(place, cases[name].python))
                usual = statistics.median(row["whole"] for row in truth["steps"])
                tries.append((truth["delayed"] / usual, place, truth))
                is_disturbed = (
                    truth["delayed"] > _LONG * usual and truth["others"] > _OTHERS * usual
                )
            _, best, truth = min(tries, key=lambda one: one[0])
            best.rename(folder)
            for _, place, _ in tries:
                shutil.rmtree(place, ignore_errors=True)
            folder.with_suffix(".json").write_text(json.dumps(truth), encoding="utf-8")


def _record(
    case: Case, build: Callable[[Clock], Body], recording: contextlib.AbstractContextManager[object]
) -> dict[str, Any]:
    clock = Clock()
    body = build(clock)
    with recording:
        delayed, others = delayed_ms(), others_ms()
        if case.has_own_loop:
            body(FIRST)
        else:
            clock.run(body)
        delayed, others = delayed_ms() - delayed, others_ms() - others
    return {"steps": clock.rows(), "delayed": delayed / STEPS, "others": others / STEPS}
