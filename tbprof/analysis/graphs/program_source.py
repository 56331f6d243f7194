"""The programs of a host, and the serialized form of one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.base.records import dataclass
from tbprof.events.space import Space


@dataclass(frozen=True, slots=True)
class ProgramList:
    """The programs whose HLO is in a trace, in its order.

    `program_id` is the unsigned id as a decimal text.
    """

    program_id: list[str]
    name: list[str]

    @property
    def titles(self) -> list[str]:
        """The names with their ids, since several programs may share a name: "jit_f(7)"."""
        return [f"{name}({id_})" for id_, name in zip(self.program_id, self.name, strict=True)]


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A program as in the trace: the bytes of an HloProto, empty if it is not there."""

    program_id: str
    name: str
    content: NDArray[np.uint8]


def find_program_list(_: Space, programs: Programs) -> ProgramList:
    """The programs of a trace."""
    listed = programs.listed()
    return ProgramList([str(number) for number, _ in listed], [name for _, name in listed])


def find_program_source(_: Space, programs: Programs, program_id: str = "") -> ProgramSource:
    """The program with that id, a decimal text."""
    number = int(program_id) if program_id.isdecimal() else -1
    name = dict(programs.listed()).get(number)
    # If its instructions ran, it is already parsed.
    module = None if name is None else programs.module(number, name)
    content = b"" if module is None else module.blob
    return ProgramSource(program_id, name or "", np.frombuffer(content, np.uint8))


def proto_text(content: bytes) -> str:
    """An HloProto in the text format of protobuf, with unknown fields by number.

    For a damaged proto, it is only a comment.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    proto = message("xla.HloProto")()
    try:
        proto.ParseFromString(content)
    except DecodeError as err:
        return f"# the proto is damaged: {err}\n"
    return text_format.MessageToString(proto, print_unknown_fields=True)
