"""Records a window of steps of a long TensorFlow loop, with a context manager to copy.

python record_custom_loop.py LOGDIR
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf


class StepProfiler:
    """Records the steps `first` to `last` of a loop that may run for days.

    with StepProfiler(logdir, first=10, last=14) as profiler:
        for step in range(1_000_000):
            with profiler.step(step):
                train_step(next(batches))
    """

    def __init__(self, logdir: str, first: int, last: int) -> None:
        self.logdir, self.first, self.last = logdir, first, last
        self._running = False

    def __enter__(self) -> "StepProfiler":  # noqa: PYI034 (Python 3.10 has no typing.Self)
        return self

    def __exit__(self, *exception: object) -> None:
        """Stops, so that a loop that ends or fails inside the window still leaves its trace."""
        self._stop()

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """One step of the loop; the profiler starts before `first` and stops after `last`."""
        if number == self.first:
            tf.profiler.experimental.start(self.logdir)
            self._running = True
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            yield
        if number == self.last:
            self._stop()

    def _stop(self) -> None:
        if self._running:
            self._running = False
            tf.profiler.experimental.stop()


def main() -> None:
    """Runs 20 steps of gradient descent and records five of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    logdir = parser.parse_args().logdir

    weights = tf.Variable(tf.random.normal([512, 512]))

    @tf.function
    def train_step(inputs: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) - inputs))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    with StepProfiler(logdir, first=10, last=14) as profiler:
        for step in range(20):
            with profiler.step(step):
                train_step(tf.random.normal([256, 512]))
    print(f"steps 10 to 14 recorded in {logdir}")


if __name__ == "__main__":
    main()
