"""Trains in JAX until it is stopped; a profile can be captured at any time.

    python examples/serve_jax.py [PORT]                       (default 9999)
    tbprof capture localhost:9999 --logdir logs

or "Capture profile" in the Profile tab. Start it on several ports, or machines, to capture several
workers at once. A profiler server listens on every address of the machine and asks for no password:
use it in networks that you trust.
"""

import sys
import time

import jax
import jax.numpy as jnp

jax.profiler.start_server(int(sys.argv[1]) if len(sys.argv) > 1 else 9999)


@jax.jit
def train(weights):
    """One step; returns the new weights."""
    return weights - 1e-6 * jnp.tanh(weights @ weights)


weights = jnp.ones((256, 256))
step = 0
while True:
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        weights = train(weights).block_until_ready()
        time.sleep(0.015)  # leaves processors to others
    if step == 3:  # compiled, and at its pace
        print("ready", flush=True)
    step += 1
