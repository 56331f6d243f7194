"""Records some batches of `model.fit` with Keras' own TensorBoard callback.

python record_keras_callback.py LOGDIR
"""

import argparse

import numpy as np
import tensorflow as tf


def main() -> None:
    """Trains for one epoch and records batches 5 to 9."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    logdir = parser.parse_args().logdir

    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(10)]
    )
    model.compile(
        optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    random = np.random.default_rng(seed=1)
    features = random.normal(size=(640, 64)).astype(np.float32)
    labels = random.integers(10, size=640)

    # (first, last) batch: leave the first ones out, they compile the step
    callback = tf.keras.callbacks.TensorBoard(logdir, profile_batch=(5, 9))
    model.fit(features, labels, batch_size=32, epochs=1, callbacks=[callback], verbose=0)
    print(f"batches 5 to 9 recorded in {logdir}")


if __name__ == "__main__":
    main()
