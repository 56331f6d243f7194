"""Records small JAX programs of known behaviour, each with what its own clock measured.

    python record_jax.py FOLDER CASE...

As record_tensorflow.py: FOLDER/CASE/plugins/profile/... and FOLDER/CASE.json.
"""

import contextlib
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 10
FIRST = 20
SLEEP_S = 0.02

# (is marked, sleeps for, level of the Python tracer)
# How a batch is made between two steps, in a function of its own.
BATCHES = ("sleeps", "computes")
CASES: dict[str, tuple[bool, float, int]] = {
    "marked": (True, 0.0, 0),
    "unmarked": (False, 0.0, 0),
    "sleeping": (True, SLEEP_S, 0),
    "sleeping_python": (True, SLEEP_S, 1),
    "unmarked_python": (False, SLEEP_S, 1),
}


@jax.jit
def train_step(weights: jax.Array, batch: jax.Array) -> jax.Array:
    """The weights after one step of gradient descent."""

    def loss(weights: jax.Array) -> jax.Array:
        return jnp.mean((jnp.tanh(batch @ weights) @ weights - batch) ** 2)

    return weights - 0.01 * jax.grad(loss)(weights)


def record(folder: Path, *, is_marked: bool, sleep_s: float, python: int) -> list[dict[str, float]]:
    """Runs and records steps."""
    weights = jax.random.normal(jax.random.key(1), (384, 384)) / 20
    batch = jax.random.normal(jax.random.key(2), (384, 384))
    for _ in range(2):
        weights = train_step(weights, batch).block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = python
    options.host_tracer_level = 2
    rows: list[dict[str, float]] = []
    starts: list[float] = []
    with jax.profiler.trace(str(folder), profiler_options=options):
        for number in range(FIRST, FIRST + STEPS):
            starts.append(time.perf_counter())
            with (
                jax.profiler.StepTraceAnnotation("train", step_num=number)
                if is_marked
                else contextlib.nullcontext()
            ):
                weights = train_step(weights, batch).block_until_ready()
                begin = time.perf_counter()
                if sleep_s:
                    time.sleep(sleep_s)
                slept = time.perf_counter() - begin if sleep_s else 0.0
            rows.append({"number": number, "waiting": 0.0, "sleeping": slept * 1e3})
        starts.append(time.perf_counter())
    for at, row in enumerate(rows):
        row["whole"] = (starts[at + 1] - starts[at]) * 1e3
    return rows


def make_batch(how: str) -> np.ndarray:
    """A batch, after a while or after much work on it in NumPy."""
    if how == "sleeps":
        time.sleep(SLEEP_S)
    values = np.ones((384, 384), np.float32)
    for _ in range(40 if how == "computes" else 0):
        values = np.sort(values[::-1] * 1.01, axis=0)
    return values


def record_batches(folder: Path, how: str) -> list[dict[str, float]]:
    """Runs and records steps whose batches are made between them, `sleeping` while they are."""
    weights = jax.random.normal(jax.random.key(1), (384, 384)) / 20
    weights = train_step(weights, make_batch(how)).block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    rows: list[dict[str, float]] = []
    with jax.profiler.trace(str(folder), profiler_options=options):
        for number in range(FIRST, FIRST + STEPS):
            start = time.perf_counter()
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                batch = make_batch(how)
                made = time.perf_counter()
                weights = train_step(weights, batch).block_until_ready()
            whole = time.perf_counter() - start
            rows.append({"number": number, "whole": whole * 1e3, "sleeping": (made - start) * 1e3})
    return rows


def main() -> None:
    """Records the cases that are named, or all."""
    folder, *names = sys.argv[1:]
    for how in BATCHES:
        if not names or f"batch_{how}" in names:
            truth = json.dumps({"steps": record_batches(Path(folder) / f"batch_{how}", how)})
            Path(folder, f"batch_{how}.json").write_text(truth, encoding="utf-8")
    for name in names or CASES:
        if name not in CASES:
            continue
        is_marked, sleep_s, python = CASES[name]
        rows = record(Path(folder) / name, is_marked=is_marked, sleep_s=sleep_s, python=python)
        Path(folder, f"{name}.json").write_text(json.dumps({"steps": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
