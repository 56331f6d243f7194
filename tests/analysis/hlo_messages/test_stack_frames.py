"""The stacks that a program has for its instructions."""

from tbprof._pb import message
from tbprof.analysis.hlo_messages.stack_frames import Frame, StackFrames


def index_of(frames, locations):
    """A StackFrameIndexProto of (location, parent) and (file, function, line, column), as bytes."""
    made = message("xla.StackFrameIndexProto")(
        file_names=["a.py", "b.py"], function_names=["f", "g"]
    )
    for location, parent in frames:
        made.stack_frames.add(file_location_id=location, parent_frame_id=parent)
    for file, function, line, column in locations:
        made.file_locations.add(
            file_name_id=file, function_name_id=function, line=line, column=column
        )
    return made.SerializeToString()


def test_a_stack_begins_with_its_innermost_frame():
    stacks = StackFrames(index_of([(1, 0), (2, 1)], [(1, 1, 10, 4), (2, 2, 20, 8)]))
    outer, inner = Frame("f", "a.py", 10, 4), Frame("g", "b.py", 20, 8)
    assert (stacks.of(1), stacks.of(2)) == ((outer,), (inner, outer))
    assert stacks.of(2) is stacks.of(2)


def test_what_a_stack_lacks_is_left_out_or_unknown():
    stacks = StackFrames(index_of([(9, 2), (1, 0), (1, 3)], [(7, -1, 10, 0)]))
    frame = Frame("", "", 10, 0)
    assert [stacks.of(number) for number in (-1, 0, 1, 2, 4)] == [(), (), (frame,), (frame,), ()]
    # A frame that is its own parent.
    assert set(stacks.of(3)) == {frame}


def test_a_damaged_index_has_no_stacks():
    assert StackFrames(index_of([(1, 0)], [(1, 1, 10, 4)])[:-1]).of(1) == ()
