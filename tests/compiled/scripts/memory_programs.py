"""Compiles programs, and writes each with what the compiler says of its memory.

    python memory_programs.py TARGET

Lines of JSON: base64 of its HloModuleProto and BufferAssignmentProto, and the figures in bytes.
"""

import base64
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax

FIGURES = ("argument", "output", "alias", "temp")


def layers(depth):
    def step(weights, x):
        def loss(weights):
            out = x
            for weight in weights:
                out = jnp.tanh(out @ weight)
            return (out**2).sum()

        return [one - 0.1 * slope for one, slope in zip(weights, jax.grad(loss)(weights))]  # noqa: B905

    return step, ([jnp.ones((64, 64))] * depth, jnp.ones((32, 64)))


def scan(trips):
    def function(c, x):
        return lax.scan(lambda c, x: (jnp.tanh(c @ x), (c * 2).sum(0)), c, x)

    return function, (jnp.ones((32, 32)), jnp.ones((trips, 32, 32)))


def branches(width):
    def function(i, a):
        return lax.switch(i, [lambda a: a @ a, lambda a: jnp.sort(a) * 2, lambda a: a[::-1]], a)

    return function, (jnp.int32(1), jnp.ones((width, width)))


def pointwise(width):
    return lambda a, b: (a + b, (a * b).sum()), (jnp.ones((width,)), jnp.ones((width,), "bfloat16"))


def main(target):
    with Path(target).open("w", encoding="utf-8") as lines:
        for make in (layers, scan, branches, pointwise):
            for size in (2, 5, 40):
                for donated in ((), (0,)):
                    function, args = make(size)
                    compiled = jax.jit(function, donate_argnums=donated).lower(*args).compile()
                    module = compiled.runtime_executable().hlo_modules()[0]
                    memory = compiled.memory_analysis()
                    content = (
                        module.as_serialized_hlo_module_proto(),
                        memory.serialized_buffer_assignment_proto,
                    )
                    line = {
                        "protos": [base64.b64encode(one).decode() for one in content],
                        **{name: getattr(memory, f"{name}_size_in_bytes") for name in FIGURES},
                        "peak": memory.peak_memory_in_bytes,
                    }
                    lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
