"""The Python function that each compiled program was compiled from, if several share a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_messages.stack_frames import Frame
from tbprof.base.lazy import regex

# Names of ops begin with the compiled function: "jit(train_step)/add".
_FUNCTION = regex(r"\A(?:jit|pjit|pmap|xmap)\(([^()/]+)\)")
_LAMBDA = "<lambda>"

# A file, and a line or 0.
Place = tuple[str, int]


def locate_functions(places: Mapping[int, set[Place]]) -> dict[int, str]:
    """The source location of each program's function, for programs with different functions.

    `places` [program] are the locations in programs with one name (`places_of`). Functions are
    different if they are in different files, or unnamed and on different lines: one function may be
    compiled for many shapes, and take a different branch for each. Programs without a location are
    omitted; if there is only one function, the result is empty.

        jit(<lambda>)/sin   by train.py, line 5       {6: "train.py line 5", 10: "train.py line 8"}
        jit(<lambda>)/tanh  by train.py, line 8
    """
    groups: list[tuple[set[Place], list[int]]] = []
    for program, functions in places.items():
        if not functions:
            continue
        joined, programs = set(functions), [program]
        apart = []
        for group in groups:
            if group[0] & functions:
                joined |= group[0]
                programs += group[1]
            else:
                apart.append(group)
        groups = [*apart, (joined, programs)]
    if len(groups) < 2:
        return {}
    return {
        program: _text(min(functions)) for functions, programs in groups for program in programs
    }


def with_location(op_name: str, place: str) -> str:
    """The name of an op with the location of its function: "jit(f, model.py)/add"."""
    match = _FUNCTION.match(op_name)
    return f"{op_name[: match.end(1)]}, {place}{op_name[match.end(1) :]}" if match else op_name


def _text(place: Place) -> str:
    path, line = place
    file = re.split(r"[\\/]", path)[-1]
    return f"{file} line {line}" if line else file


def places_of(module: Module) -> set[Place]:
    """The source locations of a program's function, according to its instructions."""
    stacks: set[tuple[int, str]] = set()
    places: set[Place] = set()
    for metadata in module.metadata():
        match = _FUNCTION.match(metadata.op_name)
        if not match:
            continue
        function = match[1]
        if metadata.stack_frame_id:
            stacks.add((metadata.stack_frame_id, function))
        elif metadata.source_file and function == _LAMBDA:
            # The location of the op itself, which may be in a called function.
            places.add((metadata.source_file, metadata.source_line))
    return places.union(
        *(_outermost(module.stack_frames.of(frame), function) for frame, function in stacks)
    )


def _outermost(frames: Sequence[Frame], function: str) -> Sequence[Place]:
    """The location of the outermost frame of a function on a stack; empty if it has none."""
    matching = [frame for frame in frames if frame.function.rpartition(".")[2] == function]
    return [(frame.file, frame.line if function == _LAMBDA else 0) for frame in matching[-1:]]
