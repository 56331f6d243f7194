"""What the framework says about an instruction: its op and its place in the source."""

from __future__ import annotations

from tbprof.analysis.hlo_messages.message_fields import (
    Blob,
    DamagedMessage,
    number_in,
    read_fields,
    text_in,
)
from tbprof.base.records import NamedTuple

# Fields of OpMetadata. Source: xla_data.proto.
_OP_TYPE, _OP_NAME, _FILE, _LINE, _DEDUPLICATED, _FRAME = 1, 2, 3, 4, 12, 15


class Metadata(NamedTuple):
    """Some fields of an OpMetadata; unknown texts are "", unknown numbers 0."""

    op_name: str = ""
    op_type: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame_id: int = 0
    deduplicated_name: str = ""


NOTHING = Metadata()


def read_metadata(message: Blob) -> Metadata:
    """The contents of an OpMetadata, nothing if it is damaged."""
    try:
        fields = read_fields(message)
    except DamagedMessage:
        return NOTHING
    return Metadata(
        text_in(fields, _OP_NAME),
        text_in(fields, _OP_TYPE),
        text_in(fields, _FILE),
        number_in(fields, _LINE),
        number_in(fields, _FRAME),
        text_in(fields, _DEDUPLICATED),
    )
