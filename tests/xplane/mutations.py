"""Traces that are nearly right: those that tests draw, with some fields changed.

What the fuzzer's own spaces and wounded bytes rarely are: steps, kernels, programs and allocations
that analysis understands, but for a number, a text or a message.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from google.protobuf.message import DecodeError
from traces import draw, message_of
from traces.every_trace import GPU_LOGDIR
from traces.memory.allocators import Tensor, memory_trace
from traces.programs import Program
from traces.runs import cpu_steps, gpu_steps, idle_python, tpu_ops, unmarked_ops
from traces.tpu_steps import tpu_steps

from tbprof._pb import message

from . import generate

_SAMPLES = Path(__file__).resolve().parents[2] / "examples/logdir"
_WHOLE = (*generate.TIMES, *generate.WILD_TIMES, *generate.IDS, 2, 64, 10**9, 10**12)
_REAL = (0.0, -0.0, 1.5, -1.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan"))
_DIGITS = ("0", "-1", "9" * 19, "9" * 40, "1e999", "nan", "", "٣")


def program_ops() -> bytes:
    """Instructions of a compiled program that ran on a CPU, some of them in a loop."""
    program = Program()
    program.name("jit_f", 7)
    program.add("p", "parameter", "f32[8,8]")
    program.add("q", "parameter", "f32[8,8]", within="inside")
    program.add("t", "transpose", "f32[8,8]", "q", within="inside").dimensions.extend((1, 0))
    product = program.add("d", "dot", "f32[8,8]", "q", "t", within="inside")
    product.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    program.add("x", "fusion", "f32[8,8]", "p", calls="inside", op="jit(f)/dot_general")
    program.add("s", "reduce", "f32[8]", "x", "p", calls="inside", op="jit(f)/reduce_sum")
    calls = {
        letter: {"hlo_op": letter, "hlo_module": "jit_f", "program_id": 7} for letter in ("x", "s")
    }
    return draw(
        {"/host:CPU": "thread |xxx.s.xx.s"},
        names={"x": "x", "s": "s"},
        stats=calls,
        programs={"jit_f(7)": program.bytes()},
    )


def runs_behind() -> bytes:
    """Programs that a CPU runs behind the steps that launch them."""
    launch = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
    of_run = {"hlo_op": "dot.1", "hlo_module": "jit_f", "program_id": 7}
    return draw(
        {"/host:CPU": """
            python |sssstttt................
                   |.PP..PP.
                   |.LL..LL.
            pool   |..aaa.aaaaa.bb..bbb.....
        """},
        names={"s": "train", "t": "train", "P": "PjitFunction(f)", "L": launch,
               "a": "dot.1", "b": "dot.1"},
        stats={"s": {"_r": 1, "step_num": 7}, "t": {"_r": 1, "step_num": 8},
               "a": {**of_run, "run_id": 1}, "b": {**of_run, "run_id": 2}},
    )  # fmt: skip


@cache
def recorded() -> tuple[bytes, ...]:
    """The recorded samples, and the recordings of a GPU."""
    paths = [*sorted(_SAMPLES.glob("**/*.xplane.pb")), *sorted(GPU_LOGDIR.glob("**/*.xplane.pb"))]
    return tuple(path.read_bytes() for path in paths)


@cache
def drawn() -> tuple[bytes, ...]:
    """Small traces of each kind of program."""
    return (
        cpu_steps("iiioooopppccccee.ff"),
        cpu_steps("oooo", start_ns=1_700_000_000 * 10**9, late=7),
        gpu_steps("hhkkkkmmmmmmddpp", "LLiiLL"),
        gpu_steps(".k.k.k.k.k.k.k.k", "L.L.L.L.L.L.L.L"),
        idle_python(),
        unmarked_ops(),
        tpu_ops(),
        program_ops(),
        runs_behind(),
        tpu_steps({"/device:TPU:0": "aa.b", "/device:TPU:1": "a..b"}),
        memory_trace(
            "a |a.b..A.c.B", a=Tensor(4096, op="x/MatMul"), b=Tensor(8), c=Tensor(1 << 40)
        ),
    )


def change(random: Random, content: bytes) -> bytes:
    """`content` with one to eight changes to its messages."""
    space = message_of(content)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        _change_within(random, space)
    return bytes(space.SerializeToString())


def _change_within(random: Random, inside: Any) -> None:
    """One change to the message or to one below it."""
    below = [list(_messages(inside, field)) for field in _nested(inside)]
    filled = [items for items in below if items]
    if filled and random.random() < 0.85:
        _change_within(random, random.choice(random.choice(filled)))
        return
    field = random.choice(inside.DESCRIPTOR.fields)
    if field.message_type is None:
        if field.is_repeated and field.type != field.TYPE_STRING:
            largest = 1 if field.type == field.TYPE_BOOL else 2**31 - 1
            _change_numbers(random, getattr(inside, field.name), largest)
        elif field.name != "child_id":
            _set(random, inside, field)
    elif not field.is_repeated:
        inside.ClearField(field.name)
    elif field.message_type.GetOptions().map_entry:
        _change_map(random, getattr(inside, field.name))
    else:
        _change_list(random, getattr(inside, field.name))


def _nested(inside: Any) -> list[Any]:
    return [field for field in inside.DESCRIPTOR.fields if field.message_type is not None]


def _messages(inside: Any, field: Any) -> Iterator[Any]:
    values = getattr(inside, field.name)
    if not field.is_repeated:
        yield from [values] if inside.HasField(field.name) else []
    elif not hasattr(values, "values"):
        yield from values
    elif field.message_type.fields_by_name["value"].message_type is not None:
        yield from values.values()


def _change_numbers(random: Random, numbers: Any, largest: int) -> None:
    if numbers and random.random() < 0.5:
        del numbers[random.randrange(len(numbers))]
    else:
        numbers.append(random.choice((*numbers, 0, 1, largest)))


def _set(random: Random, inside: Any, field: Any) -> None:
    before = getattr(inside, field.name)
    match field.type:
        case field.TYPE_STRING if isinstance(before, str):
            setattr(inside, field.name, _text(random, before))
        case field.TYPE_STRING:
            before.append(random.choice(generate.TEXTS))
        case field.TYPE_BYTES:
            setattr(inside, field.name, _content(random, before))
        case field.TYPE_DOUBLE | field.TYPE_FLOAT:
            setattr(inside, field.name, random.choice((*_REAL, -before)))
        case field.TYPE_BOOL:
            setattr(inside, field.name, not before)
        case field.TYPE_INT32 | field.TYPE_ENUM:
            setattr(inside, field.name, random.choice((0, 1, before // 2, 2**31 - 1, -(2**31))))
        case field.TYPE_UINT64:
            setattr(inside, field.name, random.choice((before + 1, *_WHOLE)) % 2**64)
        case _:
            near = (before + 1, before - 1, before // 2, -before, random.choice(_WHOLE))
            setattr(inside, field.name, (random.choice(near) + 2**63) % 2**64 - 2**63)


def _content(random: Random, content: bytes) -> bytes:
    """Other bytes; of a compiled program usually the same one with one to eight changes."""
    if len(content) < 16 or random.random() < 0.1:
        return random.randbytes(random.choice((0, 1, 9)))
    program = message("xla.HloProto")()
    try:
        program.ParseFromString(content)
    except DecodeError:
        return content[: random.randrange(len(content))]
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        _change_within(random, program)
    changed = bytes(program.SerializeToString())
    is_cut = random.random() < 0.2
    return changed[: random.randrange(len(changed) + 1)] if is_cut else changed


def _text(random: Random, text: str) -> str:
    """Another text, or this one with another number in it."""
    at = random.randrange(len(text) + 1)
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    if digits and random.random() < 0.5:
        place = random.choice(digits)
        return text[:place] + random.choice(_DIGITS) + text[place + 1 :]
    return random.choice(
        (
            random.choice(generate.TEXTS),
            text[:at],
            text[at:] + text[:at],
            text[:at] + random.choice(generate.TEXTS) + text[at:],
            text * random.choice((2, 50)),
        )
    )[:100_000]


def _change_list(random: Random, items: Any) -> None:
    if not items:
        return
    at = random.randrange(len(items))
    match random.randrange(4):
        case 0:
            del items[at]
        case 1:
            items.extend([items[at]] * random.choice((1, 2, 20)))
        case 2:
            items[at].MergeFrom(random.choice(items))
        case _:
            items.sort(key=lambda _: random.random())


def _change_map(random: Random, entries: Any) -> None:
    if not entries or not hasattr(entries[next(iter(entries))], "CopyFrom"):
        return
    key, other = (random.choice(list(entries)) for _ in range(2))
    match random.randrange(3):
        case 0:
            del entries[key]
        case 1:
            entries[key].CopyFrom(entries[other])
        case _:
            entries[random.choice(generate.IDS)].CopyFrom(entries[key])
