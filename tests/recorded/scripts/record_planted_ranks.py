"""Records JAX programs on four virtual devices, one of them late or none, see planting.py.

python record_planted_ranks.py FOLDER CASE...
"""

import os
import time

# Before JAX is imported, which reads it.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from planting import Body, Case, Clock, record_cases
from record_planted_jax import marker, recording

LATE = 2
SIZE = 320


def late_rank(clock: Clock, plant: bool) -> Body:
    """A device that comes late to each all-reduce."""

    begun: list[float] = []

    def begin(value: np.ndarray) -> np.ndarray:
        begun.append(time.perf_counter())
        return value

    def end(value: np.ndarray) -> np.ndarray:
        clock.add(time.perf_counter() - begun[-1])
        return value

    def prepared(batch: jax.Array) -> jax.Array:
        number = jax.ShapeDtypeStruct((), batch.dtype)
        first = jax.pure_callback(begin, number, batch[0, 0])
        smallest = jnp.sort(noise + first)[0]
        return batch + 1e-9 * jax.pure_callback(end, number, smallest)

    def on_each(weights: jax.Array, batch: jax.Array) -> jax.Array:
        if plant:
            is_late = jax.lax.axis_index("rank") == LATE
            batch = jax.lax.cond(is_late, prepared, lambda batch: batch, batch)
        for _ in range(4):
            batch = jnp.tanh(batch @ weights)
        return jax.lax.psum(jnp.sum(batch, axis=0), "rank")

    noise = jnp.array(np.random.default_rng(seed=2).normal(size=100_000).astype(np.float32))
    mesh = Mesh(np.array(jax.devices()), ("rank",))
    step = jax.jit(
        jax.shard_map(
            on_each,
            mesh=mesh,
            in_specs=(PartitionSpec(), PartitionSpec("rank")),
            out_specs=PartitionSpec(),
            check_vma=False,
        )
    )
    random = np.random.default_rng(seed=1)
    # Where the devices want them: what has to be sent in each step would be input.
    weights = jax.device_put(
        (random.normal(size=(SIZE, SIZE)) / 20).astype(np.float32),
        NamedSharding(mesh, PartitionSpec()),
    )
    batch = jax.device_put(
        random.normal(size=(128, SIZE)).astype(np.float32),
        NamedSharding(mesh, PartitionSpec("rank")),
    )

    def body(number: int) -> None:
        with marker(number):
            step(weights, batch).block_until_ready()

    body(0)
    return body


if __name__ == "__main__":
    record_cases({"late_rank": Case(late_rank, python=False)}, recording)
