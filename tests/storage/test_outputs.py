"""Files are there as a whole or not at all."""

import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbprof.base.errors import BadRequest, BadTrace
from tbprof.storage.outputs import write_output

CHUNKS = [b"ab", b"", b"c" * 1000, b"d"]
CONTENT = b"".join(CHUNKS)


def breaking() -> Iterator[bytes]:
    yield b"half"
    raise BadTrace("x", 1, "it shrank")


def test_the_chunks_are_the_file(tmp_path: Path) -> None:
    sizes: list[int] = []
    write_output(str(tmp_path / "out.json"), CHUNKS, sizes.append)
    assert (tmp_path / "out.json").read_bytes() == CONTENT
    assert sizes == [2, 2, 1002, 1003]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("name", ["a.json.gz", "a.GZ"])
def test_a_name_says_that_it_is_compressed(tmp_path: Path, name: str) -> None:
    write_output(str(tmp_path / name), CHUNKS)
    first = (tmp_path / name).read_bytes()
    assert gzip.decompress(first) == CONTENT
    write_output(str(tmp_path / name), CHUNKS)
    assert (tmp_path / name).read_bytes() == first  # neither name nor time are in it


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_what_fails_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    with pytest.raises(BadTrace):
        write_output(str(target), breaking())
    assert list(tmp_path.iterdir()) == []
    target.write_bytes(b"before")
    with pytest.raises(BadTrace):
        write_output(str(target), breaking())
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_old_file_is_there_until_the_new_one_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"before")

    def chunks() -> Iterator[bytes]:
        assert target.read_bytes() == b"before"
        yield b"after"
        assert target.read_bytes() == b"before"

    write_output(str(target), chunks())
    assert target.read_bytes() == b"after"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "out", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(BadRequest, match="cannot be written"):
            write_output(str(path), CHUNKS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links and devices")
def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_output(str(link), CHUNKS)
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == CONTENT
    write_output(os.devnull, CHUNKS)
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    write_output(str(tmp_path / "new"), CHUNKS)
    (tmp_path / "usual").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
