"""Records a TensorFlow training loop that is fed by tf.data.

    python record_tensorflow_cpu.py LOGDIR

The profiler runs around the loop, and each step is marked with `tf.profiler.experimental.Trace`:
`_r=1` makes the mark the root of the step, so tools can tell its input from its computation.
"""

import argparse

import tensorflow as tf

WARM_UP_STEPS = 3  # tracing and compiling the step is not what is to be seen
STEPS = 8
BATCH = 32


def main() -> None:
    """Trains a small image classifier for a few steps and records them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    logdir = parser.parse_args().logdir

    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.build((BATCH, 32, 32, 3))
    optimizer = tf.keras.optimizers.Adam()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    batches = iter(input_pipeline())
    for _ in range(WARM_UP_STEPS):
        train_step(*next(batches))

    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    with tf.profiler.experimental.Profile(logdir, options=options):
        for step in range(STEPS):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                images, labels = next(batches)  # inside the step: waiting for input shows
                loss = train_step(images, labels)
    print(f"{STEPS} steps recorded in {logdir}, loss {float(loss):.3f}")


def input_pipeline() -> tf.data.Dataset:
    """Batches of random images that are made, flipped and normalized one by one."""

    def image(index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        seed = tf.stack([index, index])
        pixels = tf.random.stateless_uniform([40, 40, 3], seed)
        pixels = tf.image.resize(pixels, [32, 32])
        pixels = tf.image.stateless_random_flip_left_right(pixels, seed)
        return tf.image.per_image_standardization(pixels), index % 10

    return (
        tf.data.Dataset.range(4096)
        .shuffle(256, seed=1)
        .map(image, num_parallel_calls=2)
        .batch(BATCH, drop_remainder=True)
        .repeat()
        .prefetch(1)
    )


if __name__ == "__main__":
    main()
