"""Records JAX on CUDA GPUs: matrix products in two precisions, convolutions, memory pressure.

    pip install "jax[cuda12]"
    python record_gpu_jax.py LOGDIR

Made for a machine with an NVIDIA GPU. Without one it says so and ends with status 1; with `--cpu`
it runs in small on the CPU, which tries the script but records no kernels.
"""

import argparse
import functools
import sys

import jax
import jax.numpy as jnp

STEPS = 6


def main() -> int:
    """Runs and records a few steps; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    parser.add_argument("--cpu", action="store_true", help="run in small without a GPU")
    args = parser.parse_args()
    devices = [device for device in jax.devices() if device.platform in {"gpu", "cuda", "rocm"}]
    if not devices and not args.cpu:
        print(f"no GPU: JAX sees {jax.devices()}; --cpu tries the script", file=sys.stderr)
        return 1

    size = 4096 if devices else 128
    inputs = make_inputs(size)
    for _ in range(2):  # compiles, and tunes the kernels
        jax.block_until_ready(step_of(inputs))

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(args.logdir, profiler_options=options):
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                jax.block_until_ready(step_of(inputs))
                hold_memory(size, blocks=2 + 2 * (step % 3))
    print(f"{STEPS} steps recorded in {args.logdir}")
    return 0


def make_inputs(size: int) -> dict[str, jax.Array]:
    """Square matrices in single and half precision, and a batch of images."""
    keys = jax.random.split(jax.random.key(1), 3)
    matrix = jax.random.normal(keys[0], (size, size))
    return {
        "single": matrix,
        "half": matrix.astype(jnp.bfloat16),
        "images": jax.random.normal(keys[1], (size // 32, 64, 64, 32)),
        "kernel": jax.random.normal(keys[2], (3, 3, 32, 64)),
    }


@jax.jit
def step_of(inputs: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """The work of one step; each scope is an op of its own in the tools."""
    with jax.named_scope("matmul_fp32"), jax.default_matmul_precision("highest"):
        single = inputs["single"] @ inputs["single"]
    with jax.named_scope("matmul_bf16"):
        half = inputs["half"] @ inputs["half"]
    with jax.named_scope("convolution"):
        convolve = functools.partial(
            jax.lax.conv_general_dilated,
            window_strides=(1, 1),
            padding="SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        gradient = jax.grad(lambda kernel: jnp.sum(convolve(inputs["images"], kernel) ** 2))
        kernel = gradient(inputs["kernel"])
    with jax.named_scope("normalize"):
        normalized = jax.nn.softmax(single, axis=-1)
    return {"single": normalized, "half": half, "kernel": kernel}


def hold_memory(size: int, blocks: int) -> None:
    """Allocates `blocks` matrices, copies one to the host, and frees them."""
    held = [jnp.full((size, size), float(block)) for block in range(blocks)]
    jax.device_get(held[-1])
    for block in held:
        block.delete()


if __name__ == "__main__":
    sys.exit(main())
