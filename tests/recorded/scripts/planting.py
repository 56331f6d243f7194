"""What the programs with planted causes share: their clock, and how a case is recorded."""

import contextlib
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

STEPS = 12
FIRST = 20
# What recurs does so in the last of this many steps: 23, 27 and 31.
EACH = 4
PLANTED_S = 0.03

Body = Callable[[int], None]


@dataclass
class Clock:
    """When steps begin, and how long the planted cause took in each of them."""

    starts: list[float] = field(default_factory=list)
    planted: list[float] = field(default_factory=list)
    marked: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """A step begins, which ends the one before."""
        self.starts.append(time.perf_counter())
        self.planted.append(0.0)

    @contextlib.contextmanager
    def planting(self) -> Iterator[None]:
        """Around the planted cause, on any thread."""
        begin = time.perf_counter()
        yield
        self.add(time.perf_counter() - begin)

    def add(self, seconds: float) -> None:
        """What a cause took that measured itself."""
        if self.planted:
            self.planted[-1] += seconds

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
        """`number`, and in ms `whole` and `planted`, of each step."""
        whole = [end - start for start, end in itertools.pairwise(self.starts)]
        for at in self.marked:
            usual = statistics.median(
                time for other, time in enumerate(whole) if other not in self.marked
            )
            self.planted[at] = whole[at] - usual
        return [
            {"number": FIRST + at, "whole": time * 1e3, "planted": planted * 1e3}
            for at, (time, planted) in enumerate(zip(whole, self.planted, strict=False))
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
    """How long the threads of the process were ready and waited for a processor, 0 if unknown.

    Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
    """
    texts = [
        path.read_text(encoding="ascii") for path in Path("/proc/self/task").glob("*/schedstat")
    ]
    return sum(int(text.split()[1]) for text in texts) / 1e6


Recording = Callable[[Path, bool], contextlib.AbstractContextManager[object]]


def record_cases(cases: Mapping[str, Case], recording: Recording) -> None:
    """Records the cases that the command line names after the folder, or all.

    Leaves FOLDER/CASE/planted/plugins/profile/..., FOLDER/CASE/without/... and beside each a JSON
    file of what the program's clock measured: `steps`, see `Clock.rows`, and `delayed`, how many ms
    of a step all threads together waited for a processor.
    """
    target, *wanted = sys.argv[1:]
    for name in wanted or cases:
        case = cases[name]
        for kind in ("planted", "without"):
            folder = Path(target, name, kind)
            clock = Clock()
            body = case.build(clock, kind == "planted")
            with recording(folder, case.python):
                before = delayed_ms()
                if case.has_own_loop:
                    body(FIRST)
                else:
                    clock.run(body)
                delayed = (delayed_ms() - before) / STEPS
            truth = json.dumps({"steps": clock.rows(), "delayed": delayed})
            folder.with_suffix(".json").write_text(truth, encoding="utf-8")
