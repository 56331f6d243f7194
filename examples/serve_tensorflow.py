"""Trains in TensorFlow until it is stopped; a profile can be captured at any time.

    python examples/serve_tensorflow.py [PORT]                       (default 6009)
    tbprof capture localhost:6009 --logdir logs

or "Capture profile" in the Profile tab. Start it on several ports, or machines, to capture several
workers at once. A profiler server listens on every address of the machine and asks for no password:
use it in networks that you trust.
"""

import sys
import time

import tensorflow as tf

tf.profiler.experimental.server.start(int(sys.argv[1]) if len(sys.argv) > 1 else 6009)
data = iter(
    tf.data.Dataset.range(10**9)
    .map(lambda at: tf.cast(at, tf.float32) * tf.ones((64, 64)))
    .batch(8)
    .prefetch(2)
)
weights = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def train(batch):
    """One step; returns the sum of the weights."""
    weights.assign_add(1e-6 * tf.reduce_mean(tf.matmul(batch, weights), axis=0))
    return tf.reduce_sum(weights)


step = 0
while True:
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train(next(data)).numpy()
        time.sleep(0.015)  # leaves processors to others
    if step == 3:  # compiled, and at its pace
        print("ready", flush=True)
    step += 1
