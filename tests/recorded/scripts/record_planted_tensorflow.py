"""Records small TensorFlow programs, each with one planted cause and without it, see planting.py.

python record_planted_tensorflow.py FOLDER CASE...
"""

import contextlib
import gzip
import math
import tempfile
import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from planting import EACH, PLANTED_S, STEPS, Body, Case, Clock, record_cases, rounds, times_of_work

SIZE = 640
BATCH = 64

Step = Callable[[tf.Tensor], tf.Tensor]
_random = np.random.default_rng(seed=1)
_batch = tf.constant(_random.normal(size=(BATCH, SIZE)).astype(np.float32))
_weights = tf.Variable((_random.normal(size=(SIZE, SIZE)) / 30).astype(np.float32))
PRODUCTS = times_of_work(lambda: tf.tanh(_batch @ _weights).numpy())


def forward(batch: tf.Tensor) -> tf.Tensor:
    """The loss of a batch, after some milliseconds of matrix products."""
    for _ in range(PRODUCTS):
        batch = tf.tanh(batch @ _weights)
    return tf.reduce_mean(batch)


train_step = tf.function(forward)


def marker(number: int) -> tf.profiler.experimental.Trace:
    """The annotation of a step."""
    return tf.profiler.experimental.Trace("train", step_num=number, _r=1)


def in_python(function: Callable[[np.ndarray], np.ndarray]) -> Step:
    """A transformation that runs a function of NumPy."""

    def transform(batch: tf.Tensor) -> tf.Tensor:
        out = tf.numpy_function(function, [batch], batch.dtype)
        return tf.ensure_shape(out, batch.shape)

    return transform


def waiting_for(clock: Clock, data: tf.data.Dataset, times: int = 1) -> Body:
    """Steps on batches of a pipeline; what is planted is the wait for them.

    Without autotuning, which would put a prefetch where there is none.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    feed = iter(data.with_options(options))

    def body(number: int) -> None:
        with marker(number):
            with clock.planting():
                batch = next(feed)
            for _ in range(times):
                train_step(batch).numpy()

    for _ in range(3):
        body(0)
    return body


def endless() -> tf.data.Dataset:
    """The same batch again and again."""
    return tf.data.Dataset.from_tensors(_batch).repeat()


def sleeping(seconds: float) -> Step:
    """A transformation that takes its time, as one that reads from a slow disk."""

    def read(batch: np.ndarray) -> np.ndarray:
        time.sleep(seconds)
        return batch

    return in_python(read)


def slow_map(clock: Clock, plant: bool) -> Body:
    """A map of much work, one element after another."""

    def augment(batch: tf.Tensor) -> tf.Tensor:
        noise = tf.random.stateless_normal([300_000], seed=(1, 2))
        return batch + 1e-9 * tf.sort(noise)[0]

    return waiting_for(clock, endless().map(augment if plant else tf.identity))


def slow_generator(clock: Clock, plant: bool) -> Body:
    """A generator of Python that takes its time."""

    def examples() -> Iterator[np.ndarray]:
        batch = _batch.numpy()
        while True:
            if plant:
                time.sleep(PLANTED_S)
            yield batch

    spec = tf.TensorSpec(_batch.shape, tf.float32)
    return waiting_for(clock, tf.data.Dataset.from_generator(examples, output_signature=spec))


def filled_pool(clock: Clock, plant: bool) -> Body:
    """A parallel map whose sorts fill the threads, with a cheap filter behind it."""

    def decode(number: tf.Tensor) -> tf.Tensor:
        size = 80_000 if plant else 10
        noise = tf.random.stateless_normal([size], seed=(1, number))
        return tf.sort(noise)[:10]

    def is_wanted(values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(values) < 100.0

    data = tf.data.Dataset.range(10**9).map(decode, num_parallel_calls=2)
    data = data.filter(is_wanted).batch(16).map(lambda values: _batch + 1e-9 * values[0, 0])
    return waiting_for(clock, data.prefetch(1))


def no_prefetch(clock: Clock, plant: bool) -> Body:
    """Batches that are read when they are asked for, though they could be read ahead."""
    data = endless().map(sleeping(4 * PLANTED_S / 3))
    # Steps that take longer than a batch, at any speed of the machine: a prefetch hides all of it.
    return waiting_for(clock, data if plant else data.prefetch(4), times=9)


def uncached_reading(clock: Clock, plant: bool) -> Body:
    """Compressed records that are read again in each step, while this machine inflates them."""
    path = str(Path(tempfile.mkdtemp(), "part-00000.tfrecord"))
    content = _random.bytes(1_500_000) + bytes(3_000_000)
    packed = gzip.compress(content)
    inflating_s = min(timeit.repeat(lambda: gzip.decompress(packed), number=1, repeat=5))
    content *= math.ceil(PLANTED_S / inflating_s)
    with tf.io.TFRecordWriter(path, options="GZIP") as writer:
        for _ in range(2):
            writer.write(content)
    data = tf.data.TFRecordDataset([path], compression_type="GZIP")
    data = data.repeat() if plant else data.cache().repeat()
    return waiting_for(clock, data.map(lambda record: _batch + 0 * parsed(record)))


def parsed(record: tf.Tensor) -> tf.Tensor:
    """A number of a record."""
    return tf.cast(tf.strings.length(record), tf.float32)


def eager_ops(clock: Clock, plant: bool) -> Body:
    """Many small ops outside of a function."""

    def decay(rounds: Iterable[int]) -> tf.Tensor:
        rate = tf.constant(1.0)
        for _ in rounds:
            rate = rate * 0.999 + 0.001
        return rate

    decay_once = tf.function(lambda: decay(range(120)))
    decay_once()
    train_step(_batch)

    def body(number: int) -> None:
        with marker(number):
            if plant:
                with clock.planting():
                    decay(rounds())
            else:
                decay_once()
            train_step(_batch).numpy()

    return body


def retracing(clock: Clock, plant: bool) -> Body:
    """A function that is called with another Python number in each step."""

    @tf.function
    def schedule(rate: tf.Tensor, factor: float = 0.5) -> tf.Tensor:
        for _ in range(10):
            rate = rate * factor + 0.001
        return rate

    schedule(tf.constant(0.5))
    train_step(_batch)

    def body(number: int) -> None:
        with marker(number):
            if plant:
                with clock.planting():
                    schedule(tf.constant(0.5), 1.0 / number)
            else:
                schedule(tf.constant(0.5))
            train_step(_batch).numpy()

    return body


def first_step(clock: Clock, plant: bool) -> Body:
    """The function is traced in the first step that is recorded."""

    @tf.function
    def step(batch: tf.Tensor) -> tf.Tensor:
        # They are traced, and pruned from the graph: tracing takes long, a step does not.
        for _ in range(300):
            tf.reduce_sum(batch)
        return forward(batch)

    def body(number: int) -> None:
        if plant and len(clock.starts) == 1:
            clock.mark()
        with marker(number):
            step(_batch).numpy()

    if not plant:
        body(0)
    return body


def checkpoint(clock: Clock, plant: bool) -> Body:
    """The variables are saved each few steps."""
    state = [tf.Variable(_random.normal(size=1_000_000)) for _ in range(10)]
    saver = tf.train.Checkpoint(state=state)
    prefix = str(Path(tempfile.mkdtemp(), "model"))
    saver.write(prefix)
    train_step(_batch)

    def body(number: int) -> None:
        with marker(number):
            train_step(_batch).numpy()
            if plant and number % EACH == EACH - 1:
                clock.mark()
                saver.write(prefix)

    return body


def numpy_metrics(clock: Clock, plant: bool) -> Body:
    """Metrics that are computed in NumPy in each step."""
    scores = _random.normal(size=150_000)

    def update_metrics() -> None:
        with clock.planting():
            for _ in rounds():
                np.sort(scores)

    def body(number: int) -> None:
        with marker(number):
            train_step(_batch).numpy()
            if plant:
                update_metrics()

    body(0)
    return body


def python_function(clock: Clock, plant: bool) -> Body:
    """A step that sorts its batch in Python."""

    def sort(batch: np.ndarray) -> np.ndarray:
        with clock.planting():
            for _ in rounds():
                batch = np.sort(batch)
        return batch

    transform: Step = in_python(sort) if plant else tf.sort

    @tf.function
    def step(batch: tf.Tensor) -> tf.Tensor:
        return forward(transform(batch))

    def body(number: int) -> None:
        with marker(number):
            step(_batch).numpy()

    body(0)
    return body


def keras_callback(clock: Clock, plant: bool) -> Body:
    """A callback of `fit` that takes its time after each batch."""

    class Notify(tf.keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            clock.begin()

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            if plant:
                with clock.planting():
                    time.sleep(PLANTED_S)

        def on_epoch_end(self, epoch: int, logs: object = None) -> None:
            clock.begin()

    layers = [tf.keras.layers.Dense(SIZE, "tanh") for _ in range(3)]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    images = np.tile(_batch.numpy(), (STEPS, 1))
    labels = np.zeros((len(images), 1), np.float32)
    model.fit(images, labels, batch_size=BATCH, epochs=1, verbose=0)

    def body(number: int) -> None:
        model.fit(images, labels, batch_size=BATCH, epochs=1, callbacks=[Notify()], verbose=0)

    return body


CASES: dict[str, Case] = {
    "slow_map": Case(slow_map, python=False),
    "slow_generator": Case(slow_generator, python=False),
    "filled_pool": Case(filled_pool, python=False),
    "no_prefetch": Case(no_prefetch, python=False),
    "uncached_reading": Case(uncached_reading, python=False),
    "eager_ops": Case(eager_ops, python=False),
    "retracing": Case(retracing, python=False),
    "first_step": Case(first_step, python=False),
    "checkpoint": Case(checkpoint, python=False),
    "numpy_metrics": Case(numpy_metrics),
    "python_function": Case(python_function, python=False),
    "keras_callback": Case(keras_callback, has_own_loop=True),
}


def recording(folder: Path, python: bool) -> contextlib.AbstractContextManager[object]:
    """A recording of host threads."""
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=2, python_tracer_level=int(python)
    )
    return tf.profiler.experimental.Profile(str(folder), options=options)


if __name__ == "__main__":
    record_cases(CASES, recording)
