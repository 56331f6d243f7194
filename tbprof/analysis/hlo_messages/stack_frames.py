"""The source locations of a program's instructions, as stacks of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from tbprof.analysis.hlo_messages.message_fields import DamagedMessage
from tbprof.analysis.hlo_messages.messages import Messages
from tbprof.base.records import NamedTuple

# Fields of StackFrameIndexProto, of its FileLocation and of its StackFrame. Source: hlo.proto.
_FILES, _FUNCTIONS, _LOCATIONS, _FRAMES = 1, 2, 3, 4
_FILE, _FUNCTION, _LINE, _COLUMN = 1, 2, 3, 4
_LOCATION, _PARENT = 1, 2
# Deeper stacks are damaged, or too long to read.
_DEEPEST = 256


class Frame(NamedTuple):
    """A stack frame; unknown texts are "", unknown numbers 0."""

    function: str
    file: str
    line: int
    column: int


class StackFrames:
    """The stacks of a program's instructions, by the ids in their metadata."""

    def __init__(self, index: bytes) -> None:
        """`index` is a StackFrameIndexProto, in which ids count from 1; none if it is damaged."""
        self._files: list[bytes] = []
        self._functions: list[bytes] = []
        self._locations: list[list[int]] = []
        self._frames: list[list[int]] = []
        with suppress(DamagedMessage):
            self._read(Messages.one(index))
        self._known: dict[int, tuple[Frame, ...]] = {}

    def _read(self, index: Messages) -> None:
        files, functions, locations, frames = (
            index.parts(field)[1] for field in (_FILES, _FUNCTIONS, _LOCATIONS, _FRAMES)
        )
        self._locations = locations.numbers(_FILE, _FUNCTION, _LINE, _COLUMN).T.tolist()
        self._frames = frames.numbers(_LOCATION, _PARENT).T.tolist()
        self._files, self._functions = files.contents(), functions.contents()

    def of(self, frame: int) -> tuple[Frame, ...]:
        """The frames of a stack, innermost first; () for ids that the program does not have.

        Frames without a location are omitted.
        """
        known = self._known.get(frame)
        if known is None:
            known = self._known[frame] = tuple(self._walk(frame))
        return known

    def _walk(self, frame: int) -> Iterator[Frame]:
        frames, locations = self._frames, self._locations
        for _ in range(_DEEPEST):
            if not 0 < frame <= len(frames):
                return
            location, frame = frames[frame - 1]
            if not 0 < location <= len(locations):
                continue
            file, function, line, column = locations[location - 1]
            yield Frame(_entry(self._functions, function), _entry(self._files, file), line, column)


def _entry(texts: Sequence[bytes], number: int) -> str:
    return texts[number - 1].decode("utf-8", "replace") if 0 < number <= len(texts) else ""
