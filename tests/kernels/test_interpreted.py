"""Compiled kernels return and write what their sources say, interpreted, whatever a trace holds."""

import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random

import numpy as np
from analysis.program_memory.heap_twin import replay
from traces import draw
from traces.memory.memory_plans import train_step
from traces.programs import Program
from xplane import fuzz, generate, questions

from tbprof.analysis.costs.alike import Alike
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.program_memory.buffer_assignment import read_assignment
from tbprof.events.space import Space
from tbprof.events.strings import Strings
from tbprof.kernels.analysis import line_fits
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.interning import intern_texts
from tbprof.xplane.reader import space_in

from .interpreted import NAMES, checked_kernels

# Ops of kernels that follow each other, on two streams, in steps of the program.
OPS = draw(
    {
        "/device:GPU:0": "Stream #1 |aa.b..ccc.a\nStream #2 |..bb.b.....",
        "/host:CPU": "python |ssssttttt",
    },
    names={"s": "train", "t": "train"},
    stats={
        "a": {"tf_op": "x/MatMul:MatMul"},
        "b": {"tf_op": "x/MatMul:MatMul"},
        "c": {"tf_op": "x/y/Relu:Relu"},
        "s": {"step_num": 7, "_r": 1},
        "t": {"step_num": 8, "_r": 1},
    },
)
GROUPED = draw(
    {"/host:CPU": "python |ssssttttt"}, stats={"s": {"group_id": 3}, "t": {"group_id": 5}}
)
CORES = draw({f"/device:TPU:{core}": "Steps |aabb\nXLA Ops |c.ce\n |..e." for core in range(2)})


def spaces(sample_logdir: Path) -> Iterator[Space]:
    """Recorded, drawn, generated and damaged ones."""
    recorded = sample_logdir / "plugins/profile/tensorflow_input_bound/host0.xplane.pb"
    for content in (recorded.read_bytes(), OPS, GROUPED, CORES):
        yield space_in(Buffer(content, "drawn"))
    for seed in range(8):
        random = Random(seed)
        content = generate.space(random)
        if seed % 2:
            content = fuzz.mutate(random, content, content)
        space = fuzz.read(content)
        if space is not None:
            fuzz.compare(content, 40)
            yield space


def ask_what_few_traces_need(random: Random) -> None:
    """Texts of events, a program, and lines through points, of which some are far off."""
    texts = [random.choice(generate.TEXTS).encode() * random.choice((1, 1, 9)) for _ in range(90)]
    content, at = b"", []
    for text in texts:
        at.append(len(content))
        content += generate.varint(len(text)) + text
    ids = intern_texts(Buffer(content, "texts", 128), np.array(at, np.int64), strings := Strings())
    assert [strings[one].encode() for one in ids.tolist()] == texts
    program = Program()
    program.add("x", "add", "f32[2]")
    module = Module(program.bytes())
    assert module.index.find("x") == 0
    assert list(Alike(module).instruction) == [0]
    assert read_assignment(train_step().bytes()).spaces == [0]
    for points in range(1, 12):
        x, y, level, slope = np.array([
            [random.choice((0.0, 1.5, -2.0, 1e15, random.random())) for _ in range(points)]
            for _ in range(4)
        ])  # fmt: skip
        line_fits.find_line(x, y, level, slope, 1.0, points // 3, np.empty(points))
    for buffers in range(1, 9):
        events = random.choices("+-=", k=4 * buffers)
        names = random.choices(range(-1, buffers), k=8 * buffers)
        replay([*zip(events, names[::2], names[1::2], strict=True)], [1] * buffers)


def used_kernels() -> set[str]:
    """The functions of kernels that other modules call."""
    labels = {
        id(value): f"{name}.{key}"
        for name in NAMES
        for key, value in vars(import_module(f"tbprof.kernels.{name}")).items()
        if callable(value) and not isinstance(value, type)
    }
    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith("tbprof.") and not name.startswith("tbprof.kernels")
    ]
    return {
        labels[id(value)]
        for module in modules
        for value in vars(module).values()
        if id(value) in labels
    }


def test_kernels_do_what_their_sources_say(sample_logdir: Path) -> None:
    wanted = used_kernels()
    assert len(wanted) > 60
    calls: Counter[str]
    with checked_kernels() as calls:
        for number, space in enumerate(spaces(sample_logdir)):
            questions.ask_pages(space)
            questions.ask_viewer(space, Random(number))
        ask_what_few_traces_need(Random(1))
    assert not wanted - set(calls)
