"""The store of computed arrays."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.patience import PATIENCE_S

from tbprof.storage.arrays import SUFFIX, keep_arrays, load_arrays
from tbprof.storage.results import ResultStore


def test_missing_entry_is_none(store):
    assert load_arrays(store, "nothing") is None
    assert not store.directory.exists()  # reading makes nothing


def test_last_write_wins(store):
    for number in (1, 2):
        keep_arrays(store, "key", {"x": np.array(number)})
    arrays = load_arrays(store, "key")
    assert arrays is not None
    assert arrays["x"] == 2


def test_least_recently_used_entries_go_first(tmp_path):
    store = ResultStore(tmp_path, max_bytes=100_000)
    old = time.time() - 1000
    for number in range(8):
        keep_arrays(store, f"k{number}", {"x": np.zeros(10_000, np.uint8)})
        os.utime(store.path(f"k{number}", SUFFIX), (old + number, old + number))
    assert load_arrays(store, "k0") is not None  # now the most recently used
    for number in range(8, 12):
        keep_arrays(store, f"k{number}", {"x": np.zeros(10_000, np.uint8)})
    kept = [number for number in range(12) if store.path(f"k{number}", SUFFIX).exists()]
    assert 0 in kept
    assert 11 in kept
    assert 1 not in kept
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 100_000


def test_entry_larger_than_the_store_is_not_kept(tmp_path):
    store = ResultStore(tmp_path, max_bytes=1000)
    keep_arrays(store, "key", {"x": np.zeros(2000, np.uint8)})
    assert load_arrays(store, "key") is None


def test_files_of_others_in_the_directory_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"x" * 5000)
    store = ResultStore(tmp_path, max_bytes=1000)
    keep_arrays(store, "key", {"x": np.zeros(10, np.uint8)})
    assert (tmp_path / "notes.txt").exists()
    assert load_arrays(store, "key") is not None


def test_leftovers_of_processes_that_died_are_removed(tmp_path):
    for name, age in (("old.tmp", 7200), ("young.tmp", 10)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    keep_arrays(ResultStore(tmp_path), "key", {"x": np.zeros(1)})
    assert not (tmp_path / "old.tmp").exists()
    assert (tmp_path / "young.tmp").exists()


def test_failed_write_leaves_nothing(store):
    def write_half():
        with store.writing(store.path("k", ".pb")) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert list(store.directory.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_directory_and_files_are_private(store):
    keep_arrays(store, "key", {"x": np.zeros(1)})
    assert store.directory.stat().st_mode & 0o777 == 0o700
    (path,) = store.directory.iterdir()
    assert path.stat().st_mode & 0o777 == 0o400


def test_unwritable_directory_is_logged_once_and_costs_nothing_else(tmp_path, caplog):
    (tmp_path / "file").touch()
    store = ResultStore(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            keep_arrays(store, f"k{number}", {"x": np.zeros(1)})
    assert load_arrays(store, "k0") is None
    assert len(caplog.records) == 1
    assert "TBPROF_CACHE_DIR" in caplog.text
    assert "is not used" in caplog.text


def test_read_only_directory_still_reads(unprivileged):
    store = ResultStore(unprivileged / "cache")
    keep_arrays(store, "key", {"x": np.zeros(1)})
    store.directory.chmod(0o500)
    try:
        assert load_arrays(store, "key") is not None
        keep_arrays(store, "other", {"x": np.zeros(1)})
        assert load_arrays(store, "other") is None
    finally:
        store.directory.chmod(0o700)


def test_directory_comes_from_the_environment_or_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path / "mine"))
    assert ResultStore().directory == tmp_path / "mine" / "results"
    monkeypatch.delenv("TBPROF_CACHE_DIR")
    assert "tbprof" in str(ResultStore().directory).lower()


def test_two_processes_share_a_store(tmp_path):
    """Both write, read and evict the same few keys; every value read is one that was written."""
    script = """
import sys, numpy as np
from pathlib import Path
from tbprof.storage.arrays import keep_arrays, load_arrays
from tbprof.storage.results import ResultStore
store = ResultStore(Path(sys.argv[1]), max_bytes=200_000)
random = np.random.default_rng(int(sys.argv[2]))
found = 0
for turn in range(400):
    key = int(random.integers(8))
    if random.random() < 0.5:
        keep_arrays(store, str(key), {"x": np.full(5000, key + 10 * int(random.integers(9)))})
    elif (entry := load_arrays(store, str(key))) is not None:
        found += 1
        assert entry["x"].shape == (5000,)
        assert (entry["x"] == entry["x"][0]).all()
        assert entry["x"][0] % 10 == key
assert found
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, str(tmp_path), str(seed)],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for seed in (1, 2)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, errors.decode()
    names = {path.suffix for path in tmp_path.iterdir()}
    assert names == {SUFFIX}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2 * 200_000


@pytest.mark.skipif(os.name != "posix", reason="no owners and modes here")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_can_write_is_not_used(store, mode, caplog):
    keep_arrays(store, "key", {"x": np.array(1)})
    store.directory.chmod(mode)
    assert load_arrays(store, "key") is None
    keep_arrays(store, "other", {"x": np.array(1)})
    assert len(list(store.directory.iterdir())) == 1
    assert caplog.text.count("other users can write it") == 1
    store.directory.chmod(0o755)
    assert load_arrays(store, "key") is not None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_directory_of_another_user_is_not_used(store):
    keep_arrays(store, "key", {"x": np.array(1)})
    os.chown(store.directory, 12345, 12345)
    assert load_arrays(store, "key") is None


def test_what_is_mapped_cannot_be_shrunk_in_place(unprivileged):
    store = ResultStore(unprivileged / "cache")
    content = np.arange(1 << 18)  # enough to be mapped
    keep_arrays(store, "key", {"x": content})
    mapped = load_arrays(store, "key")
    assert mapped is not None
    path = store.path("key", SUFFIX)
    for shrink in (lambda: os.truncate(path, 0), lambda: path.write_bytes(b"")):
        with pytest.raises(PermissionError):
            shrink()
    keep_arrays(store, "key", {"x": content[:9]})  # in its place
    path.unlink()
    assert mapped["x"].tolist() == content.tolist()


def test_files_that_change_places_are_found(store):
    for key, value in (("a", 1), ("b", 2)):
        keep_arrays(store, key, {"x": np.array(value)})
    store.path("b", SUFFIX).replace(store.path("a", SUFFIX))
    assert load_arrays(store, "a") is None
    assert not store.path("a", SUFFIX).exists()
