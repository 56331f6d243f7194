"""Compiled programs of a space, found by id and by name."""

from collections.abc import Iterator

import pytest
from traces import draw, space_of
from traces.programs import Program

from tbprof.analysis.hlo import hlo
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.vocabulary.lines import metadata_planes
from tbprof.events.space import Plane, Space


def programs() -> Programs:
    """One program, `jit_f(7)`, with the parameter `p`."""
    program = Program()
    program.add("p", "parameter", "f32[2]")
    trace = draw(
        {},
        programs={"jit_f(7)": program.bytes()},
    )
    return Programs(space_of(trace))


def test_a_program_is_found_by_id_else_by_name():
    found = programs()
    module = found.module(7, "")
    assert module is not None
    assert module.find("p") is not None
    assert found.module(8, "jit_f") is module
    assert found.module(8, "jit_g") is None


def test_whoever_asks_while_programs_are_being_read_finds_them(monkeypatch: pytest.MonkeyPatch):
    """As threads do that share the programs: one asks in the middle of the reading of another."""
    found = programs()
    read = metadata_planes
    seen: list[Module | None] = []

    def ask_again(space: Space) -> Iterator[Plane]:
        monkeypatch.setattr(hlo, "metadata_planes", read)
        seen.append(found.module(7, ""))
        yield from read(space)

    monkeypatch.setattr(hlo, "metadata_planes", ask_again)
    assert found.module(7, "") is not None
    assert found.module(8, "jit_f") is not None
    assert seen != [None]
