"""Which function of Python each compiled program was made of, where several have one name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tbprof.base.lazy import regex

# Ops are named by the function that was compiled: "jit(train_step)/add".
_FUNCTION = regex(r"\A(?:jit|pjit|pmap|xmap)\(([^()/]+)\)")
_LAMBDA = "<lambda>"
_DEEPEST = 256

_Place = tuple[str, int]


def tell_apart(modules: Mapping[int, Any]) -> dict[int, str]:
    """Where the function of each program is written, of programs whose functions are several.

    `modules` [program] are HloModuleProto of one name. Functions are different ones if they are in
    different files, or unnamed and on different lines: one function may be compiled for many
    shapes, and take another branch for each. Programs that do not say are left out, and so are all
    where there is one function alone.

        jit(<lambda>)/sin   by train.py, line 5       {6: "train.py line 5", 10: "train.py line 8"}
        jit(<lambda>)/tanh  by train.py, line 8
    """
    places = {program: set(_places(module)) for program, module in modules.items()}
    groups: list[tuple[set[_Place], list[int]]] = []
    for program, own in places.items():
        if not own:
            continue
        joined, programs = set(own), [program]
        apart = []
        for group in groups:
            if group[0] & own:
                joined |= group[0]
                programs += group[1]
            else:
                apart.append(group)
        groups = [*apart, (joined, programs)]
    if len(groups) < 2:
        return {}
    return {program: _text(min(own)) for own, programs in groups for program in programs}


def named_apart(op_name: str, place: str) -> str:
    """The name of an op with the place of its function: "jit(f, model.py)/add"."""
    found = _FUNCTION.match(op_name)
    return f"{op_name[: found.end(1)]}, {place}{op_name[found.end(1) :]}" if found else op_name


def _text(place: _Place) -> str:
    path, line = place
    file = re.split(r"[\\/]", path)[-1]
    return f"{file} line {line}" if line else file


def _places(module: Any) -> Iterator[_Place]:
    """Where a module's function is written, as far as its instructions say: file, and line or 0."""
    index = module.stack_frame_index
    for computation in module.computations:
        for instruction in computation.instructions:
            about = instruction.metadata
            found = _FUNCTION.match(about.op_name)
            if not found:
                continue
            function = found[1]
            if about.stack_frame_id:
                yield from _outermost(index, about.stack_frame_id, function)
            elif about.source_file and function == _LAMBDA:
                # That of the op itself, which may be written in a function that is called.
                yield about.source_file, about.source_line


def _outermost(index: Any, frame: int, function: str) -> Sequence[_Place]:
    """The place of the outermost frame of a function on a stack; nothing where it has none."""
    place: list[_Place] = []
    for _ in range(_DEEPEST):
        if not 0 < frame <= len(index.stack_frames):
            break
        one = index.stack_frames[frame - 1]
        frame = one.parent_frame_id
        if not 0 < one.file_location_id <= len(index.file_locations):
            continue
        location = index.file_locations[one.file_location_id - 1]
        name = _entry(index.function_names, location.function_name_id)
        if name.rpartition(".")[2] == function:
            file = _entry(index.file_names, location.file_name_id)
            place = [(file, int(location.line) if function == _LAMBDA else 0)]
    return place


def _entry(texts: Sequence[str], number: int) -> str:
    return texts[number - 1] if 0 < number <= len(texts) else ""
