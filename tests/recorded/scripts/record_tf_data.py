"""Records tf.data pipelines of which one stage is slow by construction.

    python record_tf_data.py FOLDER CASE...

Leaves FOLDER/CASE/plugins/profile/... and FOLDER/CASE.json: `waiting`, of each recorded call of
`next` how long it took in ms, and for how long of that its thread lacked a processor; for a second
pipeline, `second`.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from planting import thread_delayed_ms

BATCHES = 10
SLEEP_S = 0.02

Waited = list[tuple[float, float]]
_random = np.random.default_rng(seed=1)
_pixels = _random.normal(size=(96, 96)).astype(np.float32)


def computes(value: tf.Tensor) -> tf.Tensor:
    """Some milliseconds of work in TensorFlow, in place of decoding an image."""
    number = tf.cast(value, tf.float32)
    out = tf.constant(_pixels) + number * 1e-9
    for _ in range(10):
        out = tf.linalg.qr(out)[0]
    return number + tf.reduce_sum(out) * 1e-9


def write_records(folder: Path, files: int, records: int, size: int, kind: str = "") -> list[str]:
    """TFRecord files of random bytes, compressed as `kind` says; their names."""
    names = []
    for number in range(files):
        names.append(str(folder / f"part-{number:05d}.tfrecord"))
        with tf.io.TFRecordWriter(names[-1], options=kind) as writer:
            for _ in range(records):
                # Half of it compresses.
                writer.write(_random.bytes(size // 2) + bytes(size // 2))
    return names


def shuffle_bound(_folder: Path) -> tf.data.Dataset:
    """Every epoch begins with the filling of a large buffer, from next to nothing."""
    return tf.data.Dataset.range(30_000).shuffle(20_000).batch(3_000).repeat()


def many_iterators(_folder: Path) -> tf.data.Dataset:
    """An iterator of its own for each element."""
    return tf.data.Dataset.from_tensors(tf.constant(1.0)).repeat(10**6).batch(1_000)


def map_bound(_folder: Path) -> tf.data.Dataset:
    """A function of some milliseconds for each element, one after another."""
    return tf.data.Dataset.range(10**9).map(computes).batch(8)


def parallel_map_bound(_folder: Path) -> tf.data.Dataset:
    """The same in threads, too few of them."""
    return tf.data.Dataset.range(10**9).map(computes, num_parallel_calls=1).batch(8)


def pool_filled(_folder: Path) -> tf.data.Dataset:
    """A filter whose predicate waits for threads that a parallel map's functions fill."""
    data = tf.data.Dataset.range(10**9).map(computes, num_parallel_calls=4)
    return data.filter(lambda value: value > -1.0).batch(16)


def light_behind_heavy(_folder: Path) -> tf.data.Dataset:
    """Two parallel maps: the functions of one wait for threads that those of the other fill."""
    data = tf.data.Dataset.range(10**9)
    data = data.map(lambda value: computes(computes(value)), num_parallel_calls=4)
    return data.map(lambda value: value + 1.0, num_parallel_calls=2).prefetch(1)


def read_bound(folder: Path) -> tf.data.Dataset:
    """Large compressed records."""
    names = write_records(folder, files=2, records=10, size=4_000_000, kind="GZIP")
    return tf.data.TFRecordDataset(names, compression_type="GZIP").repeat()


def interleave_bound(folder: Path) -> tf.data.Dataset:
    """Many files of one small record each, opened one after another."""
    names = write_records(folder, files=200, records=1, size=64)
    files = tf.data.Dataset.from_tensor_slices(names).repeat()
    return files.interleave(tf.data.TFRecordDataset, cycle_length=1).batch(64)


def prefetched(_folder: Path) -> tf.data.Dataset:
    """Batches that are long there when they are asked for."""
    return tf.data.Dataset.range(10**9).map(lambda x: x + 1).batch(4).prefetch(4)


def python_map_bound(_folder: Path) -> tf.data.Dataset:
    """A function in Python for each element."""

    def slowly(number: np.ndarray) -> np.ndarray:
        time.sleep(0.002)
        return number

    def transform(number: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(slowly, [number], tf.int64), ())

    return tf.data.Dataset.range(10**9).map(transform).batch(8)


def python_bound(_folder: Path) -> tf.data.Dataset:
    """A generator that takes its time."""

    def numbers() -> Iterator[int]:
        for number in range(10**9):
            time.sleep(0.002)
            yield number

    signature = tf.TensorSpec((), tf.int64)
    return tf.data.Dataset.from_generator(numbers, output_signature=signature).batch(8)


def ask(
    batches: Iterator[Any],
    sleep_s: float = 0.0,
    times: int = BATCHES,
    use: Callable[[Any], object] = lambda batch: None,
) -> Waited:
    """How long each of the calls took and lacked a processor, in ms; `sleep_s` before each."""
    waited = []
    for _ in range(times):
        time.sleep(sleep_s)
        delayed, begin = thread_delayed_ms(), time.perf_counter()
        batch = next(batches)
        waited.append(((time.perf_counter() - begin) * 1e3, thread_delayed_ms() - delayed))
        use(batch)
    return waited


def recording(folder: Path) -> tf.profiler.experimental.Profile:
    """A recording of host threads, without Python frames."""
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    return tf.profiler.experimental.Profile(str(folder), options=options)


def record(
    folder: Path,
    build: Callable[[Path], tf.data.Dataset],
    *,
    sleep_s: float = 0.0,
    times: int = BATCHES,
) -> dict[str, object]:
    """Records calls of one pipeline."""
    with tempfile.TemporaryDirectory() as files:
        batches = iter(build(Path(files)))
        ask(batches, times=1)
        time.sleep(5 * sleep_s)
        with recording(folder):
            return {"waiting": ask(batches, sleep_s, times)}


def two_pipelines(folder: Path) -> dict[str, object]:
    """A training loop that is starved by a map, and a validation pipeline that is not slow."""
    slow, fast = iter(map_bound(folder)), iter(prefetched(folder))
    ask(slow, times=1)
    ask(fast, times=1)
    with recording(folder):
        waiting: Waited = []
        second: Waited = []
        for _ in range(BATCHES):
            waiting += ask(slow, times=1)
            second += ask(fast, times=2)
    return {"waiting": waiting, "second": second}


def feeds_jax(folder: Path) -> dict[str, object]:
    """A program of JAX that waits for a map of tf.data."""
    import jax

    step = jax.jit(lambda batch: (batch * 2).sum())
    batches = map_bound(folder).as_numpy_iterator()
    step(next(batches)).block_until_ready()
    with recording(folder):
        return {"waiting": ask(batches, use=lambda batch: step(batch).block_until_ready())}


def on_two_devices(folder: Path) -> dict[str, object]:
    """A strategy over two devices, each with a pipeline that draws from the host's."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    batches = iter(strategy.experimental_distribute_dataset(map_bound(folder)))

    @tf.function
    def step(batch: object) -> object:
        return strategy.run(tf.reduce_sum, (batch,))

    step(next(batches))
    with recording(folder):
        return {"waiting": ask(batches, use=step)}


def jax_alone(folder: Path) -> dict[str, object]:
    """The same recorded by JAX, which does not see the threads of TensorFlow."""
    import jax

    step = jax.jit(lambda batch: (batch * 2).sum())
    batches = map_bound(folder).as_numpy_iterator()
    step(next(batches)).block_until_ready()
    with jax.profiler.trace(str(folder)):
        for _ in range(3):
            step(next(batches)).block_until_ready()
    return {"waiting": []}


CASES: dict[str, Callable[[Path], dict[str, object]]] = {
    "shuffle_bound": lambda folder: record(folder, shuffle_bound),
    "map_bound": lambda folder: record(folder, map_bound),
    "parallel_map_bound": lambda folder: record(folder, parallel_map_bound),
    "pool_filled": lambda folder: record(folder, pool_filled),
    "light_behind_heavy": lambda folder: record(folder, light_behind_heavy, times=4 * BATCHES),
    "read_bound": lambda folder: record(folder, read_bound),
    "interleave_bound": lambda folder: record(folder, interleave_bound),
    "prefetched": lambda folder: record(folder, prefetched, sleep_s=SLEEP_S),
    "python_bound": lambda folder: record(folder, python_bound),
    "python_map_bound": lambda folder: record(folder, python_map_bound),
    "many_iterators": lambda folder: record(folder, many_iterators),
    "two_pipelines": two_pipelines,
    "on_two_devices": on_two_devices,
    "feeds_jax": feeds_jax,
    "jax_alone": jax_alone,
}


def main() -> None:
    """Records the cases that are named, or all."""
    folder, *names = sys.argv[1:]
    [processor] = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        processor, [tf.config.LogicalDeviceConfiguration()] * 2
    )
    for name in names or CASES:
        measured = CASES[name](Path(folder) / name)
        Path(folder, f"{name}.json").write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
