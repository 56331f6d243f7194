"""Records small JAX programs, each with one planted cause and without it, see planting.py.

python record_planted_jax.py FOLDER CASE...
"""

import gc
import io
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from planting import EACH, PLANTED_S, Body, Case, Clock, record_cases, rounds

SIZE = 640
BATCH = 64
PRODUCTS = 10

Step = Callable[[jax.Array, jax.Array], jax.Array]
_random = np.random.default_rng(seed=1)
_batch = _random.normal(size=(BATCH, SIZE)).astype(np.float32)
_weights = (_random.normal(size=(SIZE, SIZE)) / 30).astype(np.float32)


def train_step(weights: jax.Array, batch: jax.Array) -> jax.Array:
    """The loss of a batch, after some milliseconds of matrix products."""
    for _ in range(PRODUCTS):
        batch = jnp.tanh(batch @ weights)
    return jnp.mean(batch)


def long_step(weights: jax.Array, batch: jax.Array) -> jax.Array:
    """The same of several batches, one after another."""
    for _ in range(4):
        batch = batch + train_step(weights, batch)
    return jnp.mean(batch)


def longer_step(weights: jax.Array, batch: jax.Array) -> jax.Array:
    """Three times as much."""
    for _ in range(3):
        batch = batch + long_step(weights, batch)
    return jnp.mean(batch)


def compiled(function: Step = train_step) -> Step:
    """A function of its own, so that nothing is compiled but what a case wants."""
    return jax.jit(lambda weights, batch: function(weights, batch))


def marker(number: int) -> jax.profiler.StepTraceAnnotation:
    """The annotation of a step."""
    return jax.profiler.StepTraceAnnotation("train", step_num=number)


def marked(work: Callable[[int], object]) -> Body:
    """Marked steps that do `work`, which the first call compiles."""

    def body(number: int) -> None:
        with marker(number):
            work(number)

    body(0)
    return body


def slow_batches(clock: Clock, plant: bool) -> Body:
    """A batch function that sleeps."""
    step, weights = compiled(), jnp.array(_weights)

    def load_batch() -> np.ndarray:
        if plant:
            with clock.planting():
                time.sleep(PLANTED_S)
        return _batch

    return marked(lambda _: step(weights, load_batch()).block_until_ready())


def numpy_between_steps(clock: Clock, plant: bool) -> Body:
    """Statistics that are computed in NumPy after each step."""
    step, weights = compiled(), jnp.array(_weights)
    history = _random.normal(size=150_000)

    def summarize() -> float:
        with clock.planting():
            return max(float(np.sort(history)[len(history) // 2]) for _ in rounds())

    def body(number: int) -> None:
        with marker(number):
            step(weights, _batch).block_until_ready()
        if plant:
            summarize()

    body(0)
    return body


def blocking_read(clock: Clock, plant: bool) -> Body:
    """The loss is read before the next batch is made, so that the two do not overlap."""
    step, weights = compiled(longer_step), jnp.array(_weights)
    losses = [step(weights, _batch)]

    def make_batch() -> np.ndarray:
        time.sleep(PLANTED_S)
        return _batch

    def work(_number: int) -> None:
        losses.append(step(weights, _batch))
        if plant:
            float(losses[-1])
            with clock.planting():
                make_batch()
        else:
            make_batch()
            losses[-2].block_until_ready()

    return marked(work)


def changing_shapes(clock: Clock, plant: bool) -> Body:
    """A batch of another size each few steps, for which the program is compiled again."""
    step, weights = compiled(long_step), jnp.array(_weights)

    def body(number: int) -> None:
        is_odd = plant and number % EACH == EACH - 1
        batch = _batch[: BATCH - number] if is_odd else _batch
        if is_odd:
            clock.mark()
        with marker(number):
            step(weights, batch).block_until_ready()

    body(0)
    return body


def compiling(clock: Clock, plant: bool) -> Body:
    """A function that is created, and so compiled, in each step."""
    step, weights = compiled(), jnp.array(_weights)

    def work(_number: int) -> None:
        if plant:
            lowered = compiled(long_step).lower(weights, _batch)
            with clock.planting():
                lowered.compile()
        step(weights, _batch).block_until_ready()

    return marked(work)


def first_step(clock: Clock, plant: bool) -> Body:
    """The program is compiled in the first step that is recorded."""
    step, weights, batch = compiled(long_step), jnp.array(_weights), jnp.array(_batch)

    def body(number: int) -> None:
        if plant and len(clock.starts) == 1:
            clock.mark()
        with marker(number):
            step(weights, batch).block_until_ready()

    if not plant:
        body(0)
    return body


def garbage(clock: Clock, plant: bool) -> Body:
    """A collection of garbage among many objects each few steps."""
    step, weights = compiled(), jnp.array(_weights)
    objects = [[number] for number in range(600_000)] if plant else []

    def work(number: int) -> None:
        step(weights, _batch).block_until_ready()
        if objects and number % EACH == EACH - 1:
            with clock.planting():
                gc.collect()

    return marked(work)


def checkpoint(clock: Clock, plant: bool) -> Body:
    """The weights are serialized each few steps: in memory, since disks vary in their speed."""
    step, weights = compiled(), jnp.array(_weights)
    state = [np.asarray(_random.normal(size=1_500_000)) for _ in range(4)]

    def save_checkpoint() -> None:
        with clock.planting():
            np.savez(io.BytesIO(), *state)

    def work(number: int) -> None:
        step(weights, _batch).block_until_ready()
        if plant and number % EACH == EACH - 1:
            save_checkpoint()

    return marked(work)


def evaluation(clock: Clock, plant: bool) -> Body:
    """Another compiled program each few steps."""
    step, weights = compiled(), jnp.array(_weights)

    check = jax.jit(long_step)
    check(weights, _batch).block_until_ready()

    def work(number: int) -> None:
        step(weights, _batch).block_until_ready()
        if plant and number % EACH == EACH - 1:
            with clock.planting():
                for _ in range(4):
                    check(weights, _batch).block_until_ready()

    return marked(work)


def host_callback(clock: Clock, plant: bool) -> Body:
    """A callback of the compiled program into Python."""

    def log_loss(loss: np.ndarray) -> np.ndarray:
        with clock.planting():
            time.sleep(PLANTED_S)
        return loss

    def logged(weights: jax.Array, batch: jax.Array) -> jax.Array:
        loss = train_step(weights, batch)
        return jax.pure_callback(log_loss, jax.ShapeDtypeStruct((), jnp.float32), loss)

    step, weights = compiled(logged if plant else train_step), jnp.array(_weights)

    return marked(lambda _: step(weights, _batch).block_until_ready())


def annotated_wait(clock: Clock, plant: bool) -> Body:
    """A wait in a region that the program annotates."""
    step, weights = compiled(), jnp.array(_weights)

    def work(_number: int) -> None:
        with jax.profiler.TraceAnnotation("fetch_labels"):
            if plant:
                with clock.planting():
                    time.sleep(PLANTED_S)
        step(weights, _batch).block_until_ready()

    return marked(work)


def slow_loader(clock: Clock, plant: bool) -> Body:
    """A thread that loads batches more slowly than they are used."""
    step, weights = compiled(), jnp.array(_weights)
    batches: queue.Queue[np.ndarray] = queue.Queue(maxsize=2)

    def read_example() -> np.ndarray:
        if plant:
            time.sleep(3 * PLANTED_S)
        return _batch

    def load() -> None:
        while True:
            batches.put(read_example())

    threading.Thread(target=load, name="loader", daemon=True).start()

    def work(_number: int) -> None:
        begin = time.perf_counter()
        batch = batches.get()
        clock.add(time.perf_counter() - begin)
        step(weights, batch).block_until_ready()

    return marked(work)


def host_copies(clock: Clock, plant: bool) -> Body:
    """Large tables that are copied to the device in each step, until it has taken long enough."""
    step, weights = compiled(), jnp.array(_weights)
    # Views that the device cannot share, of a size whose memory is used again.
    tables = [np.zeros(2_000_001, np.float32)[1:] for _ in range(12)]

    def work(_number: int) -> None:
        if plant:
            with clock.planting():
                enough = time.perf_counter() + PLANTED_S
                while time.perf_counter() < enough:
                    jax.block_until_ready(jax.device_put(tables, may_alias=False))
        step(weights, _batch).block_until_ready()

    return marked(work)


def eager_ops(clock: Clock, plant: bool) -> Body:
    """Many small operations outside of the compiled function."""
    step, weights = compiled(), jnp.array(_weights)
    rates = jnp.ones(8)

    def decay(rates: jax.Array, rounds: Iterable[int]) -> jax.Array:
        for _ in rounds:
            rates = rates * 0.999 + 0.001
        return rates

    decay_once = jax.jit(lambda rates: decay(rates, range(400)))

    def work(_number: int) -> None:
        if plant:
            with clock.planting():
                decay(rates, rounds()).block_until_ready()
        else:
            decay_once(rates).block_until_ready()
        step(weights, _batch).block_until_ready()

    return marked(work)


def allocation_churn(clock: Clock, plant: bool) -> Body:
    """Large arrays that are allocated in each step."""
    step, weights = compiled(), jnp.array(_weights)
    kept = np.zeros(30_000_000, np.float32)

    def make_buffer() -> np.ndarray:
        if not plant:
            return kept
        with clock.planting():
            return np.ones(30_000_000, np.float32)

    def work(_number: int) -> None:
        buffer = make_buffer()
        step(weights, _batch + buffer[0] * 0).block_until_ready()

    return marked(work)


def asynchronous(_clock: Clock, plant: bool) -> Body:
    """The loss is read in each step, or else in every 7th: the others only launch the program."""
    step, weights = compiled(long_step), jnp.array(_weights)

    def body(number: int) -> None:
        with marker(number):
            loss = step(weights, _batch)
            if plant or number % 7 == 5:
                float(loss)

    body(5)
    return body


CASES: dict[str, Case] = {
    "slow_batches": Case(slow_batches),
    "slow_batches_unrecorded": Case(slow_batches, python=False),
    "numpy_between_steps": Case(numpy_between_steps),
    "blocking_read": Case(blocking_read),
    "changing_shapes": Case(changing_shapes, python=False),
    "compiling": Case(compiling, python=False),
    "first_step": Case(first_step, python=False),
    "garbage": Case(garbage),
    "checkpoint": Case(checkpoint),
    "evaluation": Case(evaluation, python=False),
    "host_callback": Case(host_callback),
    "annotated_wait": Case(annotated_wait),
    "slow_loader": Case(slow_loader),
    "host_copies": Case(host_copies, python=False),
    "eager_ops": Case(eager_ops, python=False),
    "allocation_churn": Case(allocation_churn),
    "asynchronous": Case(asynchronous),
}


def recording(folder: Path, python: bool) -> object:
    """A recording of host threads."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(python)
    options.host_tracer_level = 2
    return jax.profiler.trace(str(folder), profiler_options=options)


if __name__ == "__main__":
    record_cases(CASES, recording)
