"""Records a JAX training loop with a convolution and matrix products.

    python record_jax.py LOGDIR

Each step is marked with `jax.profiler.StepTraceAnnotation`. A step ends when its result is there
(`block_until_ready`): without the wait it would end when its work is queued.
"""

import argparse

import jax
import jax.numpy as jnp

WARM_UP_STEPS = 2
STEPS = 8
BATCH = 64

Parameters = dict[str, jax.Array]


def main() -> None:
    """Trains a small image classifier for a few steps and records them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    logdir = parser.parse_args().logdir

    keys = jax.random.split(jax.random.key(1), 4)
    parameters = {
        "kernel": 0.1 * jax.random.normal(keys[0], (3, 3, 3, 16)),
        "hidden": 0.02 * jax.random.normal(keys[1], (16 * 16 * 16, 128)),
        "output": 0.1 * jax.random.normal(keys[2], (128, 10)),
    }
    for step in range(WARM_UP_STEPS):
        parameters, loss = train_step(parameters, *batch(step))
    jax.block_until_ready(parameters)

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    with jax.profiler.trace(logdir, profiler_options=options):
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                with jax.profiler.TraceAnnotation("make batch"):
                    images, labels = batch(step)
                parameters, loss = train_step(parameters, images, labels)
                loss.block_until_ready()
    print(f"{STEPS} steps recorded in {logdir}, loss {float(loss):.3f}")


@jax.jit
def train_step(
    parameters: Parameters, images: jax.Array, labels: jax.Array
) -> tuple[Parameters, jax.Array]:
    """The parameters after one step of gradient descent, and the loss before it."""
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients), loss


def loss_of(parameters: Parameters, images: jax.Array, labels: jax.Array) -> jax.Array:
    """The mean cross entropy of a convolution and two dense layers."""
    with jax.named_scope("convolution"):
        features = jax.lax.conv_general_dilated(
            images,
            parameters["kernel"],
            window_strides=(2, 2),
            padding="SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        features = jax.nn.relu(features).reshape(images.shape[0], -1)
    with jax.named_scope("dense"):
        logits = jax.nn.relu(features @ parameters["hidden"]) @ parameters["output"]
    with jax.named_scope("loss"):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
        return -jnp.mean(chosen)


def batch(step: int) -> tuple[jax.Array, jax.Array]:
    """Random images and labels."""
    key = jax.random.key(step)
    return jax.random.normal(key, (BATCH, 32, 32, 3)), jax.random.randint(key, (BATCH,), 0, 10)


if __name__ == "__main__":
    main()
