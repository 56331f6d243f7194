"""Runs with input pipelines for the browser tests: `python make_tf_data_run.py LOGDIR`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traces import Unsigned, write_run
from traces.space_writer import SpaceWriter

HOSTILE = "<img src=x onerror=window.hacked=1>"
US = 10**6
MAP = "Iterator::Root::Prefetch::BatchV2::ParallelMapV2"
SHUFFLE = "Iterator::Root::BatchV2::Shuffle"

Value = str | int


class Host:
    """A trace of one host being written: threads, and events of iterators upon them, in µs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._space = SpaceWriter([name])
        self._plane = self._space.plane("/host:CPU")
        self._lines: dict[str, Any] = {}

    def add(self, thread: str, name: str, begin: float, length: float, **stats: Value) -> None:
        """An event; negative numbers of `id` and `parent_id` count from 2^64."""
        if thread not in self._lines:
            self._lines[thread] = self._plane.line(thread)
        for key in stats.keys() & {"id", "parent_id"}:
            stats[key] = Unsigned(int(stats[key]) % 2**64)
        start_ps, duration_ps = round(begin * US), round(length * US)
        self._plane.event(self._lines[thread], name, start_ps, duration_ps, stats)

    def write(self, logdir: Path, run: str) -> None:
        """Puts the trace where a recorder would."""
        write_run(logdir, {self.name: self._space.bytes()}, run)


def several(logdir: Path) -> None:
    """Two hosts: one maps slowly and shuffles slower still, on the other elements are made ahead.

    On the first a device waits for elements, too.
    """
    slow = Host("worker-0")
    for call in range(6):
        _shuffled(slow, 40_000.0 * call, 9_000.0 + 1_000 * call)
        _mapped(slow, 40_000.0 * call + 20_000, 4_000.0 + 500 * call)
        _on_device(slow, 40_000.0 * call + 19_000, 900.0)
    slow.write(logdir, "several")
    fast = Host("worker-1")
    for call in range(30):
        _mapped(fast, 1_000.0 * call + 700, 20.0, ahead=600.0)
    fast.write(logdir, "several")


def _shuffled(host: Host, begin: float, length: float) -> None:
    """Half of the call is the shuffle's own, a quarter reads; 2^64 - 59 is the shuffle."""
    names = ["Iterator::Root", "Iterator::Root::BatchV2", SHUFFLE, f"{SHUFFLE}::TensorSlice"]
    ids = (1, 2, -59, -58)
    for depth, (name, own) in enumerate(zip(names, ids, strict=True)):
        above = ids[depth - 1] if depth else 0
        more: dict[str, Value] = {"buffer_size": 1000} if own == -59 else {}
        if depth < 3:
            host.add("trainer", name, begin + 10 * depth, length - 20 * depth, id=own,
                     parent_id=above, **more)  # fmt: skip
        else:
            for part in range(4):
                at = begin + 100 + part * length / 16
                host.add("trainer", name, at, length / 17, id=own, parent_id=above)


def _mapped(host: Host, begin: float, length: float, ahead: float = 0.0) -> None:
    """A prefetch whose thread waits for a map with eight threads, which reads a file."""
    made = begin - ahead
    parts = ["Iterator::Root", "Iterator::Root::Prefetch", MAP.rpartition("::")[0], MAP,
             f"{MAP}::TFRecord"]  # fmt: skip
    element = int(begin)
    host.add("evaluator", parts[0], begin, length, id=11, parent_id=0)
    host.add("evaluator", parts[1], begin + 1, length - 2, id=12, parent_id=11, buffer_limit=2,
             autotune="true")  # fmt: skip
    host.add("evaluator", "PrefetchConsume", begin + length - 1.5, 0.4, element_id=element)
    host.add("tf_data_prefetch", "PrefetchProduce", made + 1, length - 3, element_id=element)
    host.add("tf_data_prefetch", parts[2], made + 1.2, length - 3.5, id=13, parent_id=12,
             batch_size=32)  # fmt: skip
    host.add("tf_data_prefetch", parts[3], made + 1.4, length - 4, id=14, parent_id=13,
             parallelism=8, deterministic="true")  # fmt: skip
    host.add("tf_data_prefetch", parts[4], made + 1.6, 1, id=15, parent_id=14)


def _on_device(host: Host, begin: float, length: float) -> None:
    """The iterator that a strategy puts on a device, and its prefetch."""
    host.add("device", "Iterator::Prefetch", begin, length, id=21, parent_id=0)
    host.add("device", "Iterator::Prefetch::Generator", begin + 1, length - 2, id=22, parent_id=21)


def thousands(logdir: Path) -> None:
    """3,000 stages that are asked one after the other, the last the slowest."""
    host = Host("host0")
    count = 3_000
    host.add("python", "Iterator::Root", 0, 10.0 * count + 2_000, id=1, parent_id=0)
    host.add("python", "Iterator::Root::Zip", 1, 10.0 * count + 1_990, id=2, parent_id=1)
    for stage in range(count):
        length = 1_500.0 if stage == count - 1 else 9.0
        host.add("python", f"Iterator::Root::Zip::Source{stage}", 2 + 10.0 * stage, length,
                 id=3 + stage, parent_id=2)  # fmt: skip
    host.write(logdir, "thousands")


def files(logdir: Path) -> None:
    """An interleave that takes turns among 40 files, each read through copies of two stages."""
    host = Host("host0")
    above = "Iterator::Root::Interleave"
    for call in range(3):
        begin = 20_000.0 * call
        host.add("python", "Iterator::Root", begin, 12_000, id=1, parent_id=0)
        host.add("python", above, begin + 1, 11_900, id=2, parent_id=1, cycle_length=16)
        for file in range(40):
            name, at = f"{above}[{file}]::FlatMap", begin + 10 + 290 * file
            host.add("python", name, at, 200, id=100 + file, parent_id=2)
            host.add("python", f"{name}[0]::TFRecord", at + 10, 150 + file, id=200 + file,
                     parent_id=100 + file)  # fmt: skip
        host.add("python", f"{above}::TensorSlice", begin + 11_800, 5, id=3, parent_id=2)
    host.write(logdir, "files")


def executions(logdir: Path) -> None:
    """100,000 calls of one pipeline, of 60 µs and more, the last the longest."""
    host = Host("host0")
    for call in range(100_000):
        begin, length = 400.0 * call, 60 + call / 1_000
        host.add("python", "Iterator::Root", begin, length, id=1, parent_id=0)
        host.add("python", "Iterator::Root::Map", begin + 1, length - 2, id=2, parent_id=1)
    host.write(logdir, "executions")


def hostile(logdir: Path) -> None:
    """Names and parameters that are markup, an iterator that asks itself, and one of no length."""
    host = Host(f"host{HOSTILE[:4]}")
    name = f"Iterator::Root::{HOSTILE}"
    for call in range(3):
        begin = 1_000.0 * call
        host.add("python", "Iterator::Root", begin, 500, id=1, parent_id=0, note=HOSTILE)
        host.add("python", name, begin + 1, 400, id=2, parent_id=1, parallelism=HOSTILE)
        host.add("python", f"{name}::{'Long' * 400}", begin + 2, 300, id=3, parent_id=2)
        host.add("python", f"{name}::{'Long' * 400}::Map", begin + 3, 100, id=2, parent_id=3)
        host.add("python", f"{name}::Nothing", begin + 350, 0, id=4, parent_id=2)
    host.write(logdir, "hostile_input")


MAKERS: tuple[Callable[[Path], None], ...] = (
    several,
    thousands,
    files,
    executions,
    hostile,
)

if __name__ == "__main__":
    for make in MAKERS:
        make(Path(sys.argv[1]))
