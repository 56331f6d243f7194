"""The source locations of a program's instructions, as stacks of frames."""

from collections.abc import Iterator, Sequence
from typing import Any

from tbprof.base.records import NamedTuple

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

    def __init__(self, index: Any) -> None:
        """`index` is a StackFrameIndexProto, in which ids count from 1."""
        self._index = index
        self._known: dict[int, tuple[Frame, ...]] = {}

    def of(self, frame: int) -> tuple[Frame, ...]:
        """The frames of a stack, innermost first; () for ids that the program does not have.

        Frames without a location are omitted.
        """
        known = self._known.get(frame)
        if known is None:
            known = self._known[frame] = tuple(self._walk(frame))
        return known

    def _walk(self, frame: int) -> Iterator[Frame]:
        index = self._index
        frames, locations = index.stack_frames, index.file_locations
        for _ in range(_DEEPEST):
            if not 0 < frame <= len(frames):
                return
            stack_frame = frames[frame - 1]
            frame = stack_frame.parent_frame_id
            if not 0 < stack_frame.file_location_id <= len(locations):
                continue
            location = locations[stack_frame.file_location_id - 1]
            function = _entry(index.function_names, location.function_name_id)
            file = _entry(index.file_names, location.file_name_id)
            yield Frame(function, file, int(location.line), int(location.column))


def _entry(texts: Sequence[str], number: int) -> str:
    return texts[number - 1] if 0 < number <= len(texts) else ""
