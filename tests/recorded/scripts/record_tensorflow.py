"""Records small TensorFlow programs of known behaviour, each with what its own clock measured.

    python record_tensorflow.py FOLDER CASE...

Leaves FOLDER/CASE/plugins/profile/... and FOLDER/CASE.json: `steps`, for each recorded step its
number and, in ms, `whole` (its start to that of the next, the last one to its end), `waiting` (in
`next`) and `sleeping`.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf

STEPS = 10
FIRST = 20
SLEEP_S = 0.02
SLOW_S = 0.1

Case = Callable[[Path], list[dict[str, float]]]
_random = np.random.default_rng(seed=1)
_weights = tf.Variable(_random.normal(size=(384, 384)).astype(np.float32) / 20)


@tf.function
def train_step(batch: tf.Tensor) -> tf.Tensor:
    """A few milliseconds of matrix products."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.tanh(batch @ _weights) @ _weights - batch))
    _weights.assign_sub(0.01 * tape.gradient(loss, _weights))
    return loss


def batches(transform: Callable[[tf.Tensor], tf.Tensor], ahead: int) -> Iterator[tf.Tensor]:
    """Endless batches, each by `transform` of an image that is there, `ahead` of them early."""
    image = tf.constant(_random.normal(size=(384, 384)).astype(np.float32))
    data = tf.data.Dataset.from_tensors(image).repeat().map(transform, num_parallel_calls=1)
    return iter(data.prefetch(ahead) if ahead else data)


def sleeps(image: tf.Tensor) -> tf.Tensor:
    """The image after a while, as from a slow disk."""

    def wait(value: np.ndarray) -> np.ndarray:
        time.sleep(SLOW_S)
        return value

    out = tf.numpy_function(wait, [image], tf.float32)
    return tf.ensure_shape(out, image.shape)


def computes(image: tf.Tensor) -> tf.Tensor:
    """The image after much work on it in TensorFlow."""
    out = image
    for _ in range(6):
        out = tf.linalg.qr(out)[0]
    return image + 0 * out


def loop(
    folder: Path,
    *,
    transform: Callable[[tf.Tensor], tf.Tensor] = tf.identity,
    ahead: int = 1,
    is_inside: bool = True,
    sleep_s: float = 0.0,
    first: int = FIRST,
    wait: Callable[[], None] = lambda: None,
) -> list[dict[str, float]]:
    """Runs and records steps; `next` is called in the marker of the step, or before it.

    Calls `wait` once all is compiled.
    """
    feed = batches(transform, ahead)
    for _ in range(3):
        train_step(next(feed))
    wait()
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    rows: list[dict[str, float]] = []
    starts: list[float] = []
    with tf.profiler.experimental.Profile(str(folder), options=options):
        for number in range(first, first + STEPS):
            waiting = 0.0
            if not is_inside:
                begin = time.perf_counter()
                batch = next(feed)
                waiting = time.perf_counter() - begin
            starts.append(time.perf_counter())
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                if is_inside:
                    begin = time.perf_counter()
                    batch = next(feed)
                    waiting = time.perf_counter() - begin
                train_step(batch).numpy()
                begin = time.perf_counter()
                if sleep_s:
                    time.sleep(sleep_s)
                slept = time.perf_counter() - begin if sleep_s else 0.0
            rows.append({"number": number, "waiting": waiting * 1e3, "sleeping": slept * 1e3})
        starts.append(time.perf_counter())
    for at, row in enumerate(rows):
        row["whole"] = (starts[at + 1] - starts[at]) * 1e3
    return rows


def keras(folder: Path) -> list[dict[str, float]]:
    """Batches 5 to 9 of a `fit` with the TensorBoard callback; nothing measured."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)
    features = _random.normal(size=(640, 64)).astype(np.float32)
    labels = _random.integers(10, size=640)
    callback = tf.keras.callbacks.TensorBoard(str(folder), profile_batch=(5, 9))
    model.fit(features, labels, batch_size=32, epochs=1, callbacks=[callback], verbose=0)
    return [{"number": number} for number in range(5, 10)]


CASES: dict[str, Case] = {
    "well_fed": lambda folder: loop(folder, ahead=4),
    "slow_inside": lambda folder: loop(folder, transform=sleeps),
    "slow_outside": lambda folder: loop(folder, transform=sleeps, is_inside=False),
    "busy_input": lambda folder: loop(folder, transform=computes),
    "sleeping": lambda folder: loop(folder, sleep_s=SLEEP_S),
    "keras": keras,
}


def main() -> None:
    """Records the cases that are named, or all."""
    folder, *names = sys.argv[1:]
    for name in names or CASES:
        rows = CASES[name](Path(folder) / name)
        Path(folder, f"{name}.json").write_text(json.dumps({"steps": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
