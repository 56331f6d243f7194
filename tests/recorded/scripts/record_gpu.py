"""Records small JAX programs on a GPU: what `tests/data/gpu_jax` holds.

python record_gpu.py FOLDER CASE...

Each case leaves FOLDER/CASE/plugins/profile/... and beside it FOLDER/CASE.json of what the
program's clock and the allocator measured. With XLA_FLAGS=--xla_gpu_enable_command_buffer= (an
empty value), XLA launches kernels one by one, so that each kernel has the name of its instruction.
"""

import contextlib
import functools
import itertools
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

IS_GPU = jax.devices()[0].platform != "cpu"
SIZE = 2048 if IS_GPU else 64
BATCH = 64 if IS_GPU else 8
SIDE = 32 if IS_GPU else 8
STEPS = 6
MIB = 2**20
# What is held after each step, in blocks of memory.
BLOCK = (64 if IS_GPU else 1) * MIB
HELD = (1, 3, 7, 3, 1, 2)

Parameters = dict[str, jax.Array]
_random = np.random.default_rng(seed=1)


@contextlib.contextmanager
def recording(folder: Path, *, python: bool = False) -> Iterator[None]:
    """A recording, with Python frames or without."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(python)
    with jax.profiler.trace(str(folder), profiler_options=options):
        yield


def marker(number: int) -> jax.profiler.StepTraceAnnotation:
    """The annotation of a step."""
    return jax.profiler.StepTraceAnnotation("train", step_num=number)


def loss_of(parameters: Parameters, images: jax.Array) -> jax.Array:
    """The loss of a network: a convolution, then products of bf16 and of fp32 in full precision."""
    with jax.named_scope("features"):
        images = jax.lax.conv_general_dilated(
            images, parameters["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        features = jnp.tile(jax.nn.relu(images).mean((1, 2)), (16, 1))
    with jax.named_scope("half"):
        features = features.astype(jnp.bfloat16) @ parameters["widen"].astype(jnp.bfloat16)
        features = jax.nn.gelu(features)
    with jax.named_scope("single"):
        features = jnp.dot(
            features.astype(jnp.float32), parameters["square"], precision=jax.lax.Precision.HIGHEST
        )
        features = jnp.tanh(features)
    with jax.named_scope("loss"):
        return jnp.mean(jnp.square(features))


@jax.jit
def train_step(parameters: Parameters, images: jax.Array) -> tuple[Parameters, jax.Array]:
    """The new parameters, and the loss before."""
    loss, slopes = jax.value_and_grad(loss_of)(parameters, images)
    return jax.tree.map(lambda old, slope: old - 0.01 * slope, parameters, slopes), loss


def training(folder: Path) -> dict[str, Any]:
    """A training loop that holds more memory in some steps than in others."""
    shapes = {"kernel": (3, 3, 16, 64), "widen": (64, SIZE), "square": (SIZE, SIZE)}
    parameters = {
        name: jnp.asarray(_random.normal(size=shape).astype(np.float32) / shape[-2])
        for name, shape in shapes.items()
    }
    images = _random.normal(size=(BATCH, SIDE, SIDE, 16)).astype(np.float32)
    allocate = jax.jit(lambda: jnp.zeros(BLOCK // 4, jnp.float32))
    for _ in range(3):  # compiles, tunes the kernels, records the graphs
        parameters, loss = train_step(parameters, jax.device_put(images))
        jax.block_until_ready((loss, allocate()))
    starts, used = [], []
    blocks: list[jax.Array] = []
    with recording(folder):
        for number in range(STEPS):
            starts.append(time.perf_counter())
            with marker(number):
                parameters, loss = train_step(parameters, jax.device_put(images))
                loss.block_until_ready()
                del blocks[HELD[number] :]
                while len(blocks) < HELD[number]:
                    blocks.append(allocate().block_until_ready())
                used.append(_bytes_in_use())
        starts.append(time.perf_counter())
    return {
        "steps_ms": [1e3 * (end - start) for start, end in itertools.pairwise(starts)],
        "bytes_in_use": used,
        "image_bytes": images.nbytes,
    }


def products(folder: Path) -> dict[str, Any]:
    """Chains of one product each in four precisions, which only the device bounds.

    The time of a chain's kernels is the time that passed.
    """
    size, calls = 4 * SIZE, 6
    chains: dict[str, Callable[[jax.Array], jax.Array]] = {}
    matrices: dict[str, jax.Array] = {}
    for name, dtype, precision in (
        ("bf16", "bfloat16", None),
        ("fp16", "float16", None),
        ("tf32", "float32", None),
        ("fp32", "float32", "highest"),
    ):
        product = jax.jit(functools.partial(_multiply, precision=precision))
        matrix = jax.random.normal(jax.random.key(1), (size, size)) / size**0.5
        matrices[name], chains[name] = matrix.astype(dtype), product
        product(matrices[name]).block_until_ready()
    took: dict[str, float] = {}
    with recording(folder):
        for number, (name, product) in enumerate(chains.items()):
            with marker(number):
                begin = time.perf_counter()
                result = matrices[name]
                for _ in range(calls):
                    result = product(result)
                result.block_until_ready()
                took[name] = 1e3 * (time.perf_counter() - begin)
    return {"took_ms": took, "calls": calls, "flops": 2 * size**3}


def reading(folder: Path) -> dict[str, Any]:
    """The loss is read in each step before the host makes the next batch."""
    step, state = _device_bound()
    mean = jax.jit(jnp.mean)

    def make_batch() -> None:
        time.sleep(0.005)

    reads, makes = [], []

    def body() -> None:
        start = time.perf_counter()
        float(mean(step(state)))
        read = time.perf_counter()
        make_batch()
        reads.append(1e3 * (read - start))
        makes.append(1e3 * (time.perf_counter() - read))

    return _loop(folder, body) | {"reads_ms": reads[-STEPS:], "makes_ms": makes[-STEPS:]}


def prefetching(folder: Path) -> dict[str, Any]:
    """Another thread puts the next batches on the device while the program computes."""
    _, matrix = _device_bound()
    batch = _random.normal(size=(SIZE, SIZE)).astype(np.float32)
    batches: queue.Queue[jax.Array] = queue.Queue(maxsize=2)

    def load() -> None:
        while True:
            batches.put(jax.device_put(batch))

    threading.Thread(target=load, name="loader", daemon=True).start()
    waited = []

    def body() -> None:
        start = time.perf_counter()
        batch = batches.get()
        waited.append(1e3 * (time.perf_counter() - start))
        _with_batch(matrix, matrix, batch).block_until_ready()

    return _loop(folder, body) | {"waited_ms": waited[-STEPS:]}


def unfinished(folder: Path) -> dict[str, Any]:
    """The recording ends while the device is at the first of the launched steps."""
    step, state = _device_bound()
    results = []
    truth = _loop(folder, lambda: results.append(step(state)))
    jax.block_until_ready(results)
    start = time.perf_counter()
    step(state).block_until_ready()
    return truth | {"step_ms": 1e3 * (time.perf_counter() - start)}


def _device_bound() -> tuple[Callable[[jax.Array], jax.Array], jax.Array]:
    """A step of some milliseconds on the device, and its argument."""
    size = 2 * SIZE
    matrix = (jax.random.normal(jax.random.key(1), (size, size)) / size**0.5).astype(jnp.bfloat16)
    return functools.partial(_products, matrix), matrix


# The matrix is an argument, since constants are part of the program and so of the trace.
@jax.jit
def _products(matrix: jax.Array, state: jax.Array) -> jax.Array:
    for _ in range(40):
        state = jnp.tanh(state @ matrix)
    return state


@jax.jit
def _with_batch(matrix: jax.Array, state: jax.Array, batch: jax.Array) -> jax.Array:
    return _products(matrix, state) + batch.mean().astype(state.dtype)


def _loop(folder: Path, body: Callable[[], object]) -> dict[str, Any]:
    """Records steps of a loop with Python frames: `steps_ms`, how long each took."""
    for _ in range(3):
        jax.block_until_ready(body())
    time.sleep(0.1)  # until the device is idle
    starts = []
    with recording(folder, python=True):
        for number in range(STEPS):
            starts.append(time.perf_counter())
            with marker(number):
                body()
        starts.append(time.perf_counter())
    return {"steps_ms": [1e3 * (end - start) for start, end in itertools.pairwise(starts)]}


def _multiply(matrix: jax.Array, precision: str | None) -> jax.Array:
    return jnp.dot(matrix, matrix, precision=precision)


def _bytes_in_use() -> int:
    """What the allocator holds, 0 where it does not say."""
    return int((jax.devices()[0].memory_stats() or {}).get("bytes_in_use", 0))


CASES = {
    "training": training,
    "products": products,
    "reading": reading,
    "prefetching": prefetching,
    "unfinished": unfinished,
}


def main() -> None:
    """Records the cases that the command line names after the folder, or all."""
    target, *wanted = sys.argv[1:]
    for name in wanted or CASES:
        folder = Path(target, name)
        folder.mkdir(parents=True, exist_ok=True)
        truth = {"device": jax.devices()[0].device_kind, "jax": jax.__version__}
        truth |= CASES[name](folder)
        folder.with_suffix(".json").write_text(json.dumps(truth), encoding="utf-8")


if __name__ == "__main__":
    main()
