"""Files small and large, vanishing, shrinking, unreadable; handles are let go."""

import gc
import mmap
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from traces import draw, write
from xplane.generate import body, varint

from tbprof.base.errors import BadTrace, Unreachable
from tbprof.xplane import buffer
from tbprof.xplane.reader import read_space

TRACE = draw({"/host:CPU": "l |aa.bb"}, stats={"a": {"tf_op": "x/A:A"}})
STARTS = [0, 3_000_000]


def _large(path: Path, zeros: int = buffer.CHUNK + 1, content: bytes = TRACE) -> Path:
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
    with pytest.raises(Unreachable, match="no file"):
        read_space(tmp_path / "host0.xplane.pb")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_without_permission_is_named(tmp_path) -> None:
    path = write(tmp_path, TRACE)
    path.chmod(0)
    with pytest.raises(Unreachable, match="Permission"):
        read_space(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps mapped files")
@pytest.mark.parametrize("zeros", [0, buffer.CHUNK + 1])
def test_a_file_that_vanishes_is_read_to_its_end(tmp_path, zeros) -> None:
    path = _large(tmp_path / "t.pb", zeros)
    (plane,) = read_space(path).planes
    path.unlink()

    assert plane.events().start_ps.tolist() == STARTS


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps mapped files")
def test_a_large_file_that_shrinks_is_noticed_before_it_is_read(tmp_path) -> None:
    path = _large(tmp_path / "t.pb")
    (plane,) = read_space(path).planes
    source = plane.events().source
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


def test_a_system_without_advice_reads_all_the_same(tmp_path, monkeypatch) -> None:
    class Plain(mmap.mmap):
        @property
        def madvise(self) -> None:
            raise AttributeError

    found = SimpleNamespace(mmap=Plain, ACCESS_READ=mmap.ACCESS_READ, PAGESIZE=mmap.PAGESIZE)
    monkeypatch.setattr(buffer, "mmap", found)

    assert _starts(_large(tmp_path / "t.pb")) == STARTS


def test_a_kernel_that_knows_no_such_advice_reads_all_the_same(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(buffer, "_POPULATE_READ", 12345)

    assert _starts(_large(tmp_path / "t.pb")) == STARTS
