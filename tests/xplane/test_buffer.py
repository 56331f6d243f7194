"""Files small and large, vanishing, shrinking, unreadable; handles are let go."""

import ast
import gc
import os
import re
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.commands import python_prints
from traces import draw, message_of, write
from xplane import fuzz, generate
from xplane.generate import body, scalar, varint
from xplane.whole import whole

from tbprof.base.errors import BadTrace, Unreachable
from tbprof.kernels.xplane.passes import Pass
from tbprof.xplane import buffer
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import read_space, space_in

TRACE = draw({"/host:CPU": "l |aa.bb"}, stats={"a": {"tf_op": "x/A:A"}})
STARTS = [0, 3_000_000]


def _large(path: Path, zeros: int = buffer.HELD_BYTES + 1, content: bytes = TRACE) -> Path:
    """A trace behind an unknown field of `zeros` bytes, which are a hole in the file."""
    with path.open("wb") as file:
        file.write(varint(99 << 3 | 2) + varint(zeros))
        file.seek(zeros, os.SEEK_CUR)
        file.write(content)
    return path


def _starts(path: Path) -> list[int]:
    (plane,) = read_space(path).planes
    events = plane.events()
    texts = events.stats(["tf_op"])["tf_op"].texts().tolist()
    assert plane.strings.take(texts) == ["x/A:A", ""]
    return events.start_ps.tolist()


def test_small_and_large_files_read_alike(tmp_path) -> None:
    assert _starts(write(tmp_path, TRACE)) == STARTS
    assert _starts(_large(tmp_path / "large.pb")) == STARTS


@pytest.mark.slow
@pytest.mark.skipif(sys.maxsize < 2**32, reason="needs 64-bit addresses")
def test_offsets_beyond_4_gib(tmp_path) -> None:
    assert _starts(_large(tmp_path / "space.pb", 2**31 + 5)) == STARTS
    assert _starts(_large(tmp_path / "space.pb", 2**32 + 5)) == STARTS


@pytest.mark.slow
@pytest.mark.skipif(sys.maxsize < 2**32, reason="needs 64-bit addresses")
def test_a_plane_and_a_line_of_over_2_gib(tmp_path) -> None:
    path, zeros = tmp_path / "plane.pb", 2**31 + 5
    hole = varint(99 << 3 | 2) + varint(zeros)
    tail = body(4, b"\x10\x05")
    in_line = len(hole) + zeros + len(tail)
    line = varint(3 << 3 | 2) + varint(in_line)
    name = body(2, "/host:CPU")
    with path.open("wb") as file:
        file.write(
            varint(1 << 3 | 2) + varint(len(name) + len(line) + in_line) + name + line + hole
        )
        file.seek(zeros, os.SEEK_CUR)
        file.write(tail)

    (plane,) = read_space(path).planes

    events = plane.events()
    assert plane.name == "/host:CPU"
    assert events.start_ps.tolist() == [5]
    assert events.source[0] > 2**31


def test_a_file_that_cannot_be_read_is_named(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "none.xplane.pb", tmp_path / ("x" * 300)):
        with pytest.raises(Unreachable, match=r"cannot be read"):
            read_space(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "host0.xplane.pb")
    with pytest.raises(Unreachable, match="not a regular file"):
        read_space(tmp_path / "host0.xplane.pb")


def test_a_file_without_permission_is_named(unprivileged) -> None:
    path = write(unprivileged, TRACE)
    path.chmod(0)
    with pytest.raises(Unreachable, match="Permission"):
        read_space(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps opened files")
@pytest.mark.parametrize("zeros", [0, buffer.HELD_BYTES + 1])
def test_a_file_that_vanishes_is_read_to_its_end(tmp_path, zeros) -> None:
    path = _large(tmp_path / "t.pb", zeros)
    (plane,) = read_space(path).planes
    path.unlink()

    assert plane.events().start_ps.tolist() == STARTS


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps opened files")
def test_a_large_file_that_shrinks_is_noticed_before_it_is_read(tmp_path) -> None:
    path = _large(tmp_path / "t.pb")
    (plane,) = read_space(path).planes
    source = plane.events().source
    plane.cache.clear()  # short lines are not read again
    os.truncate(path, 100)

    for read in (
        plane.events,
        lambda: plane.details(int(source[0])),
        lambda: plane.event_stats(source, ["tf_op"]),
        lambda: plane.types.name,
    ):
        with pytest.raises(BadTrace, match=r"shrank from .* \(at byte 100\)"):
            read()


def test_a_small_file_that_is_written_again_does_not_matter(tmp_path) -> None:
    path = write(tmp_path, TRACE)
    (plane,) = read_space(path).planes
    path.write_bytes(b"")

    assert plane.events().start_ps.tolist() == STARTS


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files by /proc")
@pytest.mark.filterwarnings("error")
def test_a_space_that_is_dropped_keeps_no_file_open(tmp_path) -> None:
    def opened() -> list[str]:
        links = list(Path("/proc/self/fd").iterdir())
        return [str(link.readlink()) for link in links if link.is_symlink()]

    path = _large(tmp_path / "t.pb")
    space = read_space(path)
    space.planes[0].events()
    assert str(path) in opened()

    gc.disable()  # nothing of a space refers back to it
    try:
        del space
        left = opened()
    finally:
        gc.enable()

    assert str(path) not in left


def test_windows_of_any_size_show_the_same() -> None:
    for seed in range(60):
        content = generate.space(Random(seed))
        if seed % 2:
            content = fuzz.mutate(Random(seed), content, TRACE)
        try:
            expected = whole(space_in(Buffer(content, "drawn")))
        except BadTrace as error:
            with pytest.raises(BadTrace, match=re.escape(str(error))):
                space_in(Buffer(content, "drawn", window=24))
            continue
        for window in (24, 37, 200):
            assert whole(space_in(Buffer(content, "drawn", window=window))) == expected


def test_a_group_longer_than_a_window_is_passed_over() -> None:
    group = b"\x9b\x06" + scalar(1, 5) * 400 + body(2, b"x" * 90) + b"\x9c\x06"  # field 99
    event = body(4, scalar(1, 1) + scalar(3, 7) + group)
    content = group + body(1, group + body(3, group + event + group + event) + group) + TRACE

    planes = space_in(Buffer(content, "drawn", window=24)).planes

    assert [len(plane.events()) for plane in planes] == [2, 2]


def test_reads_of_a_few_bytes_are_put_together(tmp_path, monkeypatch) -> None:
    def preadv(file: int, views: list[memoryview], offset: int) -> int:
        content = os.pread(file, min(len(views[0]), 1 + offset % 7), offset)
        views[0][: len(content)] = content
        return len(content)

    path = _large(tmp_path / "t.pb")
    monkeypatch.setattr(os, "preadv", preadv, raising=False)
    assert _starts(path) == STARTS


def test_a_system_without_positioned_reads_reads_all_the_same(tmp_path, monkeypatch) -> None:
    monkeypatch.delattr(os, "preadv", raising=False)
    path = _large(tmp_path / "t.pb")
    assert _starts(path) == STARTS

    (plane,) = read_space(path).planes
    os.truncate(path, 100)
    with pytest.raises(BadTrace, match="shrank"):
        plane.events()


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="another way of reading here")
def test_a_disk_that_fails_later_is_named(tmp_path, monkeypatch) -> None:
    def preadv(*_: object) -> int:
        raise OSError(5, "Input/output error")

    (plane,) = read_space(_large(tmp_path / "t.pb")).planes
    monkeypatch.setattr(os, "preadv", preadv)

    with pytest.raises(Unreachable, match=r"can no longer be read .*Input/output"):
        plane.events()


def test_windows_are_read_only_and_end_with_the_file(tmp_path) -> None:
    path = _large(tmp_path / "t.pb")
    for found in (Buffer.of_file(path), Buffer(path.read_bytes(), "held")):
        shown = found.view(len(found) - 3, len(found) + 9)
        assert shown.tobytes() == TRACE[-3:]
        assert not shown.flags.writeable
        assert found.view(len(found) + 5, len(found) + 9).size == 0


def test_windows_follow_the_pass_and_grow(tmp_path) -> None:
    buffer = Buffer(bytes(range(200)) * 100, "drawn")
    progress = Pass(0, 19_000)
    sizes = []
    for window in buffer.along(progress):
        assert window.content[0] == window.base % 200
        sizes.append(window.size)
        progress.at = window.base + (1000 if len(sizes) == 1 else window.size)
    assert sizes == [4096, 18_000]


def test_windows_hold_messages_that_are_near_each_other() -> None:
    buffer = Buffer(bytes(5000), "drawn", window=100)
    begins = np.array([10, 50, 115, 4000], np.int64)
    progress = buffer.messages()
    seen = []
    for window in buffer.around(progress, begins):
        seen.append((window.base, window.base + window.size))
        progress.at += {10: 2, 115: 0 if progress.reach == 0 else 1, 4000: 1}[window.base]
        progress.reach = 900 if window.base == 115 else 0
    assert seen == [(10, 150), (115, 215), (115, 900), (4000, 4100)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps opened files")
def test_a_file_cut_off_at_any_moment_is_refused_or_read(tmp_path) -> None:
    path = tmp_path / "t.pb"
    path.write_bytes(_long_trace())
    assert path.stat().st_size > 9 * buffer.WINDOW

    said = python_prints("-m", "xplane.shrinking", path, "40", cwd=Path(__file__).parents[1])

    counts = ast.literal_eval(said)
    assert counts.keys() <= {"read", "refused"}
    assert counts["refused"] >= 5


def _long_trace() -> bytes:
    """Kernels and ops of a GPU and a host, with texts in all events, so that all parts read on."""
    content = draw(
        {"/device:GPU:0": "Stream #1(Compute) |mm.nn", "/host:CPU": "python |aa.mm"},
        names={"m": "matmul", "n": "relu", "a": "x/A:A"},
        stats={
            "m": {"tf_op": "x/A:A", "kernel_details": "regs:32 grid:1,1,1 block:1,1,1"},
            "n": {"tf_op": "y/B:B", "kernel_details": "regs:16 grid:1,1,1 block:1,1,1"},
            "a": {"tf_op": "x/A:A"},
        },
    )
    space = message_of(content)
    for plane in space.planes:
        events = list(plane.lines[0].events)
        plane.lines[0].events.extend(events * 30_000)
    return bytes(space.SerializeToString())


def test_decoded_pieces_count_once():
    buffer = Buffer(bytes(4 << 16), "trace")
    assert buffer.decoded_ratio() == 0
    buffer.note_decoded(0, 1)
    buffer.note_decoded(10, 1 << 16)
    assert buffer.decoded_ratio() == 0.25
    buffer.note_decoded(0, 4 << 16)
    assert buffer.decoded_ratio() == 1
