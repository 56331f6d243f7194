"""Compiles drawn programs, and writes each with what the compiler says that it costs.

    python cost_programs.py TARGET COUNT SEED

Lines of JSON: name, base64 of its HloModuleProto, and the compiler's cost analysis of it; the same
of the program as it was written, before anything is fused.
"""

import base64
import json
import random
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax
from jaxlib import _jax

DTYPES = ("float32", "float32", "bfloat16", "float16", "int32", "int8", "float64", "complex64")
UNARY = (jnp.exp, jnp.tanh, jnp.sin, jnp.sqrt, jnp.abs, jnp.negative, jnp.log1p, lax.logistic)
BINARY = (jnp.add, jnp.multiply, jnp.subtract, jnp.maximum, jnp.divide)


def array(shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def size(draw, most=12):
    return draw.randint(1, most)


def dot(draw):
    """Batch, contracted and free dimensions in any order."""
    groups = [[size(draw) for _ in range(draw.randint(0, 2))] for _ in range(4)]
    batch, contracted, left, right = groups
    sides = []
    for free in (left, right):
        axes = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(contracted))]
        axes += [("f", i) for i in range(len(free))]
        draw.shuffle(axes)
        sizes = {"b": batch, "c": contracted, "f": free}
        sides.append((axes, tuple(sizes[kind][i] for kind, i in axes)))
    numbers = []
    for kind, count in (("c", len(contracted)), ("b", len(batch))):
        numbers.append(
            tuple(tuple(axes.index((kind, i)) for i in range(count)) for axes, _ in sides)
        )
    dtype = draw.choice(DTYPES)
    function = lambda a, b: lax.dot_general(a, b, (numbers[0], numbers[1]))  # noqa: E731
    return function, [array(sides[0][1], dtype), array(sides[1][1], dtype)]


def convolution(draw):
    dims = draw.randint(1, 2)
    groups = draw.choice((1, 1, 2, 4))
    batch_groups = draw.choice((1, 1, 2)) if groups == 1 else 1
    per_group, out = size(draw, 3), size(draw, 3) * groups * batch_groups
    image = [draw.randint(4, 11) for _ in range(dims)]
    window = [draw.randint(1, 4) for _ in range(dims)]
    options = {
        "window_strides": [draw.randint(1, 3) for _ in range(dims)],
        "padding": draw.choice(
            ("SAME", "VALID", [(draw.randint(0, 3), draw.randint(0, 3)) for _ in range(dims)])
        ),
        "lhs_dilation": [draw.choice((1, 1, 2, 3)) for _ in range(dims)],
        "rhs_dilation": [draw.choice((1, 1, 2)) for _ in range(dims)],
        "feature_group_count": groups,
        "batch_group_count": batch_groups,
    }
    if isinstance(options["padding"], str):
        options["lhs_dilation"] = [1] * dims
    layouts = (
        draw.choice((("NCH", "OIH", "NCH"), ("NHC", "HIO", "NHC")))
        if dims == 1
        else (
            draw.choice(
                (("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("CHWN", "IHWO", "NHWC"))
            )
        )
    )
    sizes = {"N": 2 * batch_groups, "C": per_group * groups, "O": out, "I": per_group}
    spatial = "HW"[:dims]
    left = tuple(sizes[c] if c in sizes else image[spatial.index(c)] for c in layouts[0])
    right = tuple(sizes[c] if c in sizes else window[spatial.index(c)] for c in layouts[1])
    function = lambda a, b: lax.conv_general_dilated(  # noqa: E731
        a, b, dimension_numbers=layouts, **options
    )
    return function, [array(left), array(right)]


def reduction(draw):
    shape = tuple(size(draw, 20) for _ in range(draw.randint(1, 3)))
    axes = tuple(sorted(draw.sample(range(len(shape)), draw.randint(1, len(shape)))))
    kind = draw.choice((jnp.sum, jnp.max, jnp.prod, jnp.argmax, jnp.mean, jnp.cumsum))
    if kind in (jnp.argmax, jnp.cumsum):
        return lambda a: kind(a, axis=axes[0]), [array(shape)]
    return lambda a: kind(a, axis=axes), [array(shape, draw.choice(("float32", "int32")))]


def window_reduction(draw):
    shape = (2, draw.randint(4, 12), draw.randint(4, 12), 3)
    window = (1, draw.randint(1, 3), draw.randint(1, 3), 1)
    strides = (1, draw.randint(1, 3), draw.randint(1, 2), 1)
    padding = draw.choice(("SAME", "VALID"))
    pool = lambda a: lax.reduce_window(a, 0.0, lax.add, window, strides, padding)  # noqa: E731
    peaks = lambda a: lax.reduce_window(a, -jnp.inf, lax.max, window, strides, padding)  # noqa: E731
    chosen = draw.choice((pool, peaks))
    if draw.random() < 0.4:
        return jax.grad(lambda a: (chosen(a) ** 2).sum()), [array(shape)]
    return chosen, [array(shape)]


def gather(draw):
    rows, width, taken = draw.randint(20, 200), size(draw, 16), draw.randint(1, 15)
    indices = array((taken,), "int32")
    if draw.random() < 0.5:
        return lambda a, i: a[i], [array((rows, width)), indices]
    return lambda a, i: jnp.take(a, i, axis=1), [array((width, rows)), indices]


def scatter(draw):
    rows, width, taken = draw.randint(20, 200), size(draw, 16), draw.randint(1, 15)
    method = draw.choice(("add", "set", "max"))
    return (
        lambda a, i, u: getattr(a.at[i], method)(u),
        [array((rows, width)), array((taken,), "int32"), array((taken, width))],
    )


def slices(draw):
    rows, part = draw.randint(20, 300), draw.randint(1, 15)
    kind = draw.randrange(4)
    if kind == 0:
        return lambda a: jnp.tanh(a)[3 : 3 + part] + 1, [array((rows, 4))]
    if kind == 1:
        return lambda a, i: lax.dynamic_slice(a, (i, 0), (part, 4)) * 2, [
            array((rows, 4)), array((), "int32"),
        ]  # fmt: skip
    if kind == 2:
        return lambda a, u, i: lax.dynamic_update_slice(a, jnp.exp(u), (i, 0)), [
            array((rows, 4)), array((part, 4)), array((), "int32"),
        ]  # fmt: skip
    return lambda a: jnp.concatenate([a[:part], a[-part:] * 2, jnp.flip(a)]), [array((rows, 4))]


def loop(draw):
    trips, width = draw.randint(1, 9), draw.randint(2, 40)
    kind = draw.randrange(3)
    if kind == 0:
        return lambda a: lax.fori_loop(0, trips, lambda _, x: x * 2 + 1, a), [array((width,))]
    if kind == 1:
        body = lambda c, x: (jnp.tanh(c @ x), c.sum())  # noqa: E731
        return lambda c, x: lax.scan(body, c, x), [array((4, 4)), array((trips, 4, 4))]
    return (
        lambda a: lax.while_loop(lambda x: x.sum() < 100, lambda x: x + jnp.exp(x), a),
        [array((width,))],
    )


def branch(draw):
    width = draw.randint(2, 30)
    branches = [lambda a: jnp.exp(a), lambda a: a @ a, lambda a: a * 2 + a.sum()]
    return lambda i, a: lax.switch(i, branches[: draw.randint(2, 3)], a), [
        array((), "int32"), array((width, width)),
    ]  # fmt: skip


def other(draw):
    width = draw.randint(2, 60)
    kind = draw.randrange(5)
    if kind == 0:
        return lambda a: jnp.sort(a, axis=-1), [array((3, width))]
    if kind == 1:
        return lambda a: jnp.fft.fft2(a), [array((2, 8, 16), "complex64")]
    if kind == 2:
        return lambda a: jax.random.normal(jax.random.wrap_key_data(a), (width, 5)), [
            array((2,), "uint32")
        ]
    if kind == 3:
        return lambda a: a.T.reshape(-1)[::2], [array((width, 6))]
    return lambda a, b: jnp.where(a > b, a, b.astype(a.dtype)), [
        array((width, 7), "bfloat16"), array((width, 7)),
    ]  # fmt: skip


def mixture(draw):
    """Elementwise chains with broadcasts, reductions and products between, to be fused."""
    rows, width = draw.randint(2, 40), draw.randint(2, 40)
    steps = [draw.randrange(6) for _ in range(draw.randint(2, 7))]
    unary = [draw.choice(UNARY) for _ in steps]
    binary = [draw.choice(BINARY) for _ in steps]

    def function(a, b, w):
        x = a
        for step, one, two in zip(steps, unary, binary, strict=True):
            if step == 0:
                x = two(x, b)
            elif step == 1:
                x = one(x)
            elif step == 2:
                x = x - x.mean(axis=1, keepdims=True)
            elif step == 3:
                x = jnp.tanh(x @ w)
            elif step == 4:
                x = two(x, x[:1])
            else:
                x = x.astype(jnp.bfloat16).astype(jnp.float32) * 2
        return x, x.sum()

    shapes = [array((rows, width)), array((width,)), array((width, width))]
    return (jax.grad(lambda *a: function(*a)[1]) if draw.random() < 0.3 else function), shapes


KINDS = (
    dot, dot, convolution, convolution, reduction, window_reduction, gather, scatter, slices, loop,
    branch, other, mixture, mixture, mixture,
)  # fmt: skip

# The emitters of fusions take most of the time. Without them, the compiler fuses the same ops, but
# leaves single ones as they are. Scatters, which these have none of, would become loops.
COSTLY = {dot, convolution, branch, mixture}


def compile_program(kind, lowered):
    return lowered.compile({"xla_cpu_use_fusion_emitters": kind not in COSTLY})


def main(target, count, seed):
    draw = random.Random(seed)
    client = jax.devices()[0].client
    with Path(target).open("w", encoding="utf-8") as lines:
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            function, shapes = kind(draw)
            lowered = jax.jit(function).lower(*shapes)
            compiled = compile_program(kind, lowered)
            written = lowered.compiler_ir("hlo").as_hlo_module()
            line = {
                "kind": kind.__name__,
                "module": text_of(compiled.runtime_executable().hlo_modules()[0]),
                "cost": compiled.cost_analysis(),
                "written": text_of(written),
                "written_cost": _jax.hlo_module_cost_analysis(client, written),
            }
            lines.write(json.dumps(line) + "\n")


def text_of(module):
    return base64.b64encode(module.as_serialized_hlo_module_proto()).decode()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
