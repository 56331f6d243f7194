"""Kills of processes that write: `PYTHONPATH=tests python -m storage.kills --kills 300`.

A worker computes pages and timelines into a cache, keeps arrays and captures a trace, again and
again. It is killed at a random moment; afterwards, what it kept is whole or absent, pages of its
cache are those without a cache, and each capture that it reported is there.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from helpers.started.profilers import Profiler, recorded, serving, trace

import tbprof
from tbprof.engine.engine import Body, DataRequest, Engine
from tbprof.storage.arrays import keep_arrays, load_arrays
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore

SAMPLES = Path(__file__).resolve().parents[2] / "examples" / "logdir"
RUNS = ("tensorflow_input_bound", "tensorflow_cpu_training")
TOOLS = ("overview_page", "framework_op_stats")
_KEYS = 8
_LONGEST_S = 1.5  # of the work before a kill
TRACE = trace(size=3_000_000)


def work(folder: Path) -> None:
    """Writes for ever; a line says that it begins, and one each what was captured."""
    random = Random()
    with serving(profiler := Profiler([recorded(TRACE)])):
        print("begins", flush=True)  # noqa: T201
        while True:
            store = ResultStore(folder / "cache")
            for path in store.directory.glob("*.map"):
                path.unlink()
            for key in random.sample(range(_KEYS), 3):
                keep_arrays(store, str(key), {"x": np.full(random.randrange(1 << 18), key)})
            pages(store)
            report = tbprof.capture(profiler.address, str(folder / "logs"), duration_ms=1)
            print(report.workers[0].path, flush=True)  # noqa: T201


def pages(store: ResultStore | None) -> list[bytes]:
    """Some pages of two runs, and the timeline of each."""
    engine = Engine(Logdir(str(SAMPLES)), store)
    found = []
    for run in RUNS:
        for tool in TOOLS:
            body = engine.data(DataRequest(run, tool))
            assert isinstance(body, Body)
            found.append(body.content)
        [file] = engine._logdir.run(run).files
        opened = engine.timelines.open(file, "events").open_timeline.timeline
        found.append(opened.start_ps.tobytes() + opened.duration_ps.tobytes())
    engine.timelines.settle()
    return found


def run(kills: int, seed: int) -> Counter[str]:
    """What was found after so many kills: entries that are whole or absent, and captures."""
    random = Random(seed)
    counts: Counter[str] = Counter()
    expected = pages(None)
    with TemporaryDirectory() as place:
        for number in range(kills):
            folder = Path(place, str(number % 5))  # what others left is there, too
            captured = _kill(folder, random.random() * _LONGEST_S)
            counts.update(_check(folder, captured))
            assert pages(ResultStore(folder / "cache")) == expected
            counts["kills"] += 1
    return counts


def _kill(folder: Path, after_s: float) -> list[str]:
    """The captures that a worker reported before it was killed."""
    arguments = [sys.executable, "-m", "storage.kills", "--work", str(folder)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    reported = process.communicate()[0].splitlines(keepends=True)
    return [line.rstrip("\n") for line in reported if line.endswith("\n")]


def _check(folder: Path, captured: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    store = ResultStore(folder / "cache")
    for key in range(_KEYS):
        arrays = load_arrays(store, str(key))
        assert arrays is None or (arrays["x"] == key).all()
        counts["absent" if arrays is None else "whole"] += 1
    assert all(Path(path).read_bytes() == TRACE for path in captured)
    counts["reported captures"] += len(captured)
    for run in Logdir(str(folder / "logs")).runs().values() if captured else ():
        assert all(Path(file.url).read_bytes() == TRACE for file in run.files)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.work is not None:
        work(chosen.work)
    started = time.perf_counter()
    counts = run(chosen.kills, chosen.seed)
    took = time.perf_counter() - started
    print(f"seed {chosen.seed}: {dict(counts)}, {took:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
