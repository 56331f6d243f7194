"""Opening trace files of any storage and compression."""

import gzip
import os
import random
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbprof.base.errors import BadTrace, Unreachable, Unsupported
from tbprof.storage import files as files_module
from tbprof.storage.files import fingerprint, local_trace
from tbprof.storage.logdir import Logdir, TraceFile
from tbprof.storage.results import ResultStore
from tbprof.xplane.reader import read_space

CONTENT = b"\n\x03abc" + random.Random(1).randbytes(300_000) + b"abcd" * 100_000


def trace(path: Path | str, content: bytes | None = None) -> TraceFile:
    if content is not None:
        with fsspec.open(str(path), "wb") as file:
            file.write(content)
    (run,) = Logdir(str(path)).runs().values()
    (found,) = run.files
    return found


def read(file: TraceFile, store: ResultStore | None) -> tuple[bytes, list[str]]:
    with local_trace(file, store) as local:
        return Path(local).read_bytes(), [notice.code for notice in local.warnings]


def test_plain_local_file_is_opened_in_place(tmp_path, store):
    file = trace(tmp_path / "h.xplane.pb", CONTENT)
    with local_trace(file, store) as local:
        assert os.fspath(local) == str(tmp_path / "h.xplane.pb")
    assert not store.directory.exists()


@pytest.mark.parametrize("with_store", [True, False])
def test_gzip_is_inflated(tmp_path, store, with_store):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(CONTENT))
    assert file.compression == "gz"
    assert read(file, store if with_store else None) == (CONTENT, [])


def test_inflated_copy_is_reused_until_the_file_changes(tmp_path, store, monkeypatch):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(CONTENT))
    with local_trace(file, store) as first:
        pass
    with monkeypatch.context() as patch:
        patch.setattr(files_module, "_copy", None)
        with local_trace(file, store) as second:
            assert second.path == first.path
    changed = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(b"other"))
    assert read(changed, store) == (b"other", [])


def test_remote_file_is_copied(store):
    url = f"memory://{uuid.uuid4().hex}/h.xplane.pb"
    file = trace(url, CONTENT)
    assert read(file, store) == (CONTENT, [])
    fsspec.filesystem("memory").rm(url)
    assert read(file, store) == (CONTENT, [])  # the copy
    with pytest.raises(Unreachable, match="does not exist"):
        read(file, None)


def test_content_decides_over_the_name(tmp_path, store):
    plain = trace(tmp_path / "plain.xplane.pb.gz", CONTENT)
    packed = trace(tmp_path / "packed.xplane.pb", gzip.compress(CONTENT))
    assert read(plain, store) == (CONTENT, [])
    assert read(packed, store) == (CONTENT, [])


def test_gzip_members_and_padding_are_joined(tmp_path, store):
    data = gzip.compress(b"ab") + gzip.compress(b"") + gzip.compress(b"c") + b"\0" * 512
    assert read(trace(tmp_path / "h.xplane.pb.gz", data), store) == (b"abc", [])


@pytest.mark.parametrize("with_store", [True, False])
@pytest.mark.parametrize("cut", [1, 8, 1000, 200_000])
def test_truncated_gzip_keeps_what_could_be_inflated_and_says_so(tmp_path, store, cut, with_store):
    data = gzip.compress(CONTENT)[:-cut]
    file = trace(tmp_path / "h.xplane.pb.gz", data)
    for _ in range(2):  # the second time from the store
        content, codes = read(file, store if with_store else None)
        assert CONTENT.startswith(content)
        assert len(content) > len(data) - 70_000
        assert codes == ["gzip_damaged"]


def test_damaged_gzip_keeps_what_comes_before_the_damage(tmp_path, store):
    data = bytearray(gzip.compress(CONTENT))
    data[250_000:250_400] = b"\xff" * 400
    content, codes = read(trace(tmp_path / "h.xplane.pb.gz", bytes(data)), store)
    assert codes == ["gzip_damaged"]
    assert content[:240_000] == CONTENT[:240_000]


def test_wrong_checksum_keeps_all_bytes_and_warns(tmp_path, store):
    data = bytearray(gzip.compress(CONTENT))
    data[-8] ^= 1
    file = trace(tmp_path / "h.xplane.pb.gz", bytes(data))
    assert read(file, store) == (CONTENT, ["gzip_damaged"])


def test_garbage_after_the_last_member_is_damage(tmp_path, store):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(b"abc") + b"garbage")
    assert read(file, store) == (b"abc", ["gzip_damaged"])


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 400), st.integers(1, 255))
def test_any_damage_gives_a_warning_or_the_truth(tmp_path_factory, content, cut, flip, mask):
    data = bytearray(gzip.compress(content))
    if flip >= 10 and flip < len(data):  # the header holds fields without meaning for the content
        data[flip] ^= mask
    file = trace(tmp_path_factory.mktemp("gz") / "h.xplane.pb.gz", bytes(data[: cut or None]))
    got, codes = read(file, None)
    assert got == content or codes == ["gzip_damaged"] or len(data[: cut or None]) < 2


def test_gzip_bomb_ends_at_the_limit(tmp_path, store, monkeypatch):
    monkeypatch.setattr(files_module, "INFLATED_LIMIT", 1_000_000)
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(b"\0" * 50_000_000))
    for where in (store, None):
        with pytest.raises(Unsupported, match="1,000,000"):
            read(file, where)
    assert list(store.directory.iterdir()) == []


def test_gzip_bomb_ends_at_a_ratio_that_no_trace_has(tmp_path, store):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(b"\0" * (66 << 20)))
    for where in (store, None):
        with pytest.raises(Unsupported, match="200 times"):
            read(file, where)
    assert list(store.directory.iterdir()) == []


def test_the_last_of_the_disk_is_not_taken(tmp_path, store, monkeypatch):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(CONTENT))
    little = SimpleNamespace(f_bavail=255 << 8, f_frsize=4096)
    monkeypatch.setattr(os, "fstatvfs", lambda _: little)
    with pytest.raises(Unreachable, match="No space left"):
        read(file, store)
    assert list(store.directory.iterdir()) == []


def test_what_is_no_trace_does_not_stay_in_the_store(tmp_path, store):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(b"\0" * 1000))
    with (
        pytest.raises(BadTrace, match=r"h\.xplane\.pb\.gz: not an XPlane trace"),
        local_trace(file, store) as local,
    ):
        read_space(local, file.url)
    assert list(store.directory.iterdir()) == []


def test_empty_files_are_empty(tmp_path, store):
    assert read(trace(tmp_path / "h.xplane.pb", b""), store) == (b"", [])
    assert read(trace(tmp_path / "h.xplane.pb.gz", b""), store) == (b"", [])


def test_vanished_file_is_unreachable(tmp_path, store):
    for name in ("h.xplane.pb", "h.xplane.pb.gz"):
        file = trace(tmp_path / name, b"12")
        (tmp_path / name).unlink()
        with pytest.raises(Unreachable, match="does not exist"):
            read(file, store)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["x.xplane.pb", "x.xplane.pb.gz"])
def test_a_pipe_is_not_waited_for(tmp_path, store, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(Unreachable, match="not a regular file"):
        read(trace(tmp_path / name), store)


def test_unwritable_store_falls_back_to_a_temporary_file(tmp_path):
    (tmp_path / "file").touch()
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(CONTENT))
    with local_trace(file, ResultStore(tmp_path / "file" / "cache")) as local:
        assert Path(local).read_bytes() == CONTENT
    assert not Path(local).exists()


def test_opened_copy_is_not_evicted(tmp_path):
    store = ResultStore(tmp_path / "cache", max_bytes=500_000)
    first = trace(tmp_path / "a.xplane.pb.gz", gzip.compress(CONTENT[:300_000]))
    second = trace(tmp_path / "b.xplane.pb.gz", gzip.compress(CONTENT[:400_000]))
    with local_trace(first, store) as a, local_trace(second, store) as b:
        assert Path(a).exists()
        assert Path(b).exists()
    third = trace(tmp_path / "c.xplane.pb.gz", gzip.compress(CONTENT[:200_000]))
    with local_trace(third, store):
        assert sum(path.stat().st_size for path in store.directory.iterdir()) <= 500_000


def test_two_requests_inflate_once(tmp_path, store, monkeypatch):
    file = trace(tmp_path / "h.xplane.pb.gz", gzip.compress(CONTENT))
    copy = Mock(wraps=files_module._copy)
    monkeypatch.setattr(files_module, "_copy", copy)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: read(file, store), range(4)))
    copy.assert_called_once()


def test_fingerprint_follows_place_size_time_and_version():
    base = TraceFile("h", "/a/h.xplane.pb", 10, 1000, "")
    others = [
        TraceFile("h", "/b/h.xplane.pb", 10, 1000, ""),
        TraceFile("h", "/a/h.xplane.pb", 11, 1000, ""),
        TraceFile("h", "/a/h.xplane.pb", 10, 1001, ""),
        TraceFile("h", "/a/h.xplane.pb", 10, 1000, "", "v2"),
    ]
    assert len({fingerprint(file) for file in [base, *others]}) == 5
    assert fingerprint(base) == fingerprint(TraceFile("h", "/a/h.xplane.pb", 10, 1000, ""))


def test_another_content_of_the_same_size_and_time_is_noticed(tmp_path):
    path = tmp_path / "h.xplane.pb"
    first = fingerprint(trace(path, b"first"))
    facts = path.stat()
    path.write_bytes(b"other")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert fingerprint(trace(path)) != first
