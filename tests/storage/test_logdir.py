"""Discovery of runs and hosts."""

import json
import os
import sys
import uuid
from pathlib import Path

import fsspec
import pytest
from helpers.logdirs import ignored, make, runs
from helpers.patience import until

from tbprof.base.errors import RunNotFound, Unreachable
from tbprof.storage.logdir import Logdir


def test_finds_runs_at_the_root_and_at_any_depth_newest_first(tmp_path):
    make(
        tmp_path,
        "plugins/profile/2024_01_01/h0.xplane.pb",
        "plugins/profile/2024_01_02/h0.xplane.pb",
        "train/plugins/profile/r1/h0.xplane.pb",
        "deep/a/b/plugins/profile/r3/h1.xplane.pb",
        "deep/a/b/plugins/profile/r3/h0.xplane.pb",
        "train/events.out.tfevents.1",
    )
    assert list(runs(str(tmp_path)).items()) == [
        ("train/r1", ["h0"]),
        ("deep/a/b/r3", ["h0", "h1"]),
        ("2024_01_02", ["h0"]),
        ("2024_01_01", ["h0"]),
    ]


def test_lists_empty_runs(tmp_path):
    make(tmp_path, "plugins/profile/empty/")
    assert runs(str(tmp_path)) == {"empty": []}


def test_host_is_the_file_name_without_its_ending(tmp_path):
    make(
        tmp_path / "plugins/profile/r",
        "worker.eu-1.example.com.xplane.pb",
        "10.0.0.1_8470.xplane.pb",
        "packed.xplane.pb.gz",
        "größe 日本.xplane.pb",
    )
    logdir = Logdir(str(tmp_path))
    files = logdir.run("r").files
    assert [(file.host, file.compression) for file in files] == [
        ("10.0.0.1_8470", ""),
        ("größe 日本", ""),
        ("packed", "gz"),
        ("worker.eu-1.example.com", ""),
    ]
    assert all(file.bytes == 2 and file.modified_ns > 0 for file in files)


def test_other_tools_files_are_no_hosts(tmp_path):
    make(
        tmp_path / "plugins/profile/r",
        "h.xplane.pb",
        ".cached_tools.json",
        "cache_version.txt",
        "ALL_HOSTS.op_stats_v2.pb",
        "h.op_stats_v2.pb",
        "h.op_stats.pb",
        "h.SSTABLE",
        "h.metadata.SSTABLE",
        "h.trie.SSTABLE",
        "h.dcn_collective_stats.pb",
        "h.smart_suggestion.pb",
        "jit_f.hlo_proto.pb",
        "NO_MODULE.hlo_proto.pb",
        "h.trace.json.gz",
        "overview_page.pb",
        "perfetto_trace.json.gz",
    )
    logdir = Logdir(str(tmp_path))
    assert [file.host for file in logdir.run("r").files] == ["h"]
    assert ignored(logdir) == {}


def test_files_that_look_like_profiles_are_reported_with_the_reason(tmp_path):
    make(
        tmp_path,
        "plugins/profile/r/xplane.pb",
        "plugins/profile/r/.xplane.pb",
        "plugins/profile/r/.xplane.pb.gz",
        "plugins/profile/r/h.xplane.riegeli",
        "plugins/profile/r/folder.xplane.pb/",
        "plugins/profile/r/ALL_HOSTS.xplane.pb",
        "plugins/profile/loose.xplane.pb",
        "elsewhere/stray.xplane.pb",
    )
    logdir = Logdir(str(tmp_path))
    assert logdir.run("r").files == ()
    reasons = ignored(logdir)
    assert set(reasons) == {
        "xplane.pb", ".xplane.pb", ".xplane.pb.gz", "h.xplane.riegeli", "folder.xplane.pb",
        "ALL_HOSTS.xplane.pb", "loose.xplane.pb", "stray.xplane.pb",
    }  # fmt: skip
    assert "host name" in reasons["xplane.pb"]
    assert "riegeli" in reasons["h.xplane.riegeli"]
    assert "directory" in reasons["folder.xplane.pb"]
    assert "run directory" in reasons["stray.xplane.pb"]


def test_hosts_are_in_the_order_of_their_numbers(tmp_path):
    run = tmp_path / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    names = ["w-2", "w-10", "w-1", "w-01", "w", "w-10-b", "x1y2", "x1y10", "9" * 200]
    for name in names:
        (run / f"{name}.xplane.pb").write_bytes(b"")
    hosts = [file.host for file in Logdir(str(tmp_path)).run("run").files]
    assert hosts == ["9" * 200, "w", "w-01", "w-1", "w-2", "w-10", "w-10-b", "x1y2", "x1y10"]


def test_plain_file_wins_over_the_compressed_one_of_the_same_host(tmp_path):
    make(tmp_path / "plugins/profile/r", "h.xplane.pb", "h.xplane.pb.gz")
    logdir = Logdir(str(tmp_path))
    assert [file.compression for file in logdir.run("r").files] == [""]
    assert list(ignored(logdir)) == ["h.xplane.pb.gz"]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("plugins/profile/r1", {"r1": ["h"]}),
        ("plugins/profile", {"r1": ["h"], "r0": []}),
        ("plugins", {"r1": ["h"], "r0": []}),
        ("plugins/profile/r0", {"r0": []}),
        ("other", {"other": ["x"]}),
        ("plugins/profile/r1/h.xplane.pb", {"r1": ["h"]}),
        ("named/anything.pb", {"named": ["anything"]}),
        ("named/xplane.pb", {"named": ["xplane"]}),
        ("named/notes.txt", {}),
        ("missing", {}),
    ],
)
def test_accepts_run_directories_profile_directories_and_files(tmp_path, location, expected):
    make(
        tmp_path,
        "plugins/profile/r1/h.xplane.pb",
        "plugins/profile/r0/",
        "other/x.xplane.pb",
        "named/anything.pb",
        "named/xplane.pb",
        "named/notes.txt",
    )
    logdir = Logdir(str(tmp_path / location))
    assert runs(str(tmp_path / location)) == expected
    if not expected:
        assert len(ignored(logdir)) == 1


def test_several_files_make_one_run_per_directory(tmp_path):
    make(tmp_path, "x/r/a.xplane.pb", "x/r/b.xplane.pb.gz", "x/r/unasked.xplane.pb", "y/r/a.pb")
    names = ["x/r/b.xplane.pb.gz", "x/r/a.xplane.pb", "y/r/a.pb"]
    logdir = Logdir([str(tmp_path / name) for name in names])
    assert {n: [f.host for f in r.files] for n, r in logdir.runs().items()} == {
        "r": ["a", "b"],
        "y/r": ["a"],
    }
    (tmp_path / "x/r/a.xplane.pb").write_bytes(b"longer")
    assert [file.bytes for file in logdir.run("r").files] == [6, 2]


@pytest.mark.parametrize("location", ["", [], ["", ""]])
def test_without_a_location_there_is_nothing_and_no_error(location):
    logdir = Logdir(location)
    assert not logdir.is_active()
    assert logdir.runs() == {}
    assert logdir.report().logdir == ""
    assert not logdir.report().scanning


@pytest.mark.parametrize("location", ["a:/x,b:/y", "/no/such/place", "nul\0byte"])
def test_location_that_is_no_directory_stays_inactive(location):
    logdir = Logdir(location)
    assert logdir.runs() == {}
    assert not logdir.is_active()
    assert len(logdir.report().ignored) == 1


def test_run_is_looked_up_and_never_joined_to_a_path(tmp_path):
    make(tmp_path, "log/plugins/profile/r/h.xplane.pb", "log/plugins/profile/secret.txt")
    make(tmp_path, "outside/h.xplane.pb")
    logdir = Logdir(str(tmp_path / "log"))
    for name in ("../../../outside", "", ".", "r/", "/etc", "r\0", "r/../r"):
        with pytest.raises(RunNotFound) as raised:
            logdir.run(name)
        assert "outside/" not in raised.value.hint
    assert logdir.run("r").name == "r"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows forbids such names")
def test_hostile_names_are_data(tmp_path):
    names = ["<script>alert(1)<", "a\nb", "..x", "%2e%2e", "'\"", "−ünï", "x" * 200, "a,b"]
    make(tmp_path, *(f"plugins/profile/{name}/{name}.xplane.pb" for name in names))
    assert runs(str(tmp_path)) == {name: [name] for name in names}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are UTF-8 there")
def test_names_that_are_not_utf8_can_be_shown_and_opened(tmp_path):
    directory = tmp_path / "plugins/profile" / os.fsdecode(b"r\xff")
    directory.mkdir(parents=True)
    (directory / os.fsdecode(b"h\xfe.xplane.pb")).write_bytes(b"12")
    logdir = Logdir(str(tmp_path))
    (run,) = logdir.runs().values()
    json.dumps([run.name, run.files[0].host], ensure_ascii=False).encode()
    assert Path(logdir.run(run.name).files[0].url).read_bytes() == b"12"


def test_new_runs_and_hosts_show_up(tmp_path):
    make(tmp_path, "plugins/profile/r1/h0.xplane.pb")
    logdir = Logdir(str(tmp_path))
    assert list(logdir.runs()) == ["r1"]
    make(tmp_path, "plugins/profile/r1/h1.xplane.pb", "plugins/profile/r2/h0.xplane.pb")
    assert [file.host for file in logdir.run("r1").files] == ["h0", "h1"]
    until(lambda: list(logdir.runs()) == ["r2", "r1"])


def test_run_is_seen_as_it_is_now(tmp_path):
    make(tmp_path, "plugins/profile/r/h.xplane.pb")
    logdir = Logdir(str(tmp_path))
    before = logdir.run("r").files[0]
    (tmp_path / "plugins/profile/r/h.xplane.pb").write_bytes(b"more bytes")
    after = logdir.run("r").files[0]
    assert (before.bytes, after.bytes) == (2, 10)
    assert before.modified_ns != after.modified_ns


def test_trace_of_one_host_is_seen_as_it_is_now(tmp_path):
    path = tmp_path / "plugins/profile/r/h.xplane.pb"
    make(tmp_path, "plugins/profile/r/h.xplane.pb")
    logdir = Logdir(str(tmp_path))
    assert logdir.trace("r", "h") is None  # nobody has asked for the run
    known = logdir.run("r").files[0]
    assert logdir.trace("r", "h") == known
    assert logdir.trace("r", "other") is None
    assert logdir.trace("other", "h") is None
    path.write_bytes(b"more bytes")
    assert logdir.trace("r", "h") == logdir.run("r").files[0] != known
    path.unlink()
    assert logdir.trace("r", "h") is None
    path.mkdir()
    assert logdir.trace("r", "h") is None


def test_trace_that_was_pointed_at_is_seen_as_it_is_now(tmp_path):
    make(tmp_path, "plugins/profile/r/h.xplane.pb")
    path = tmp_path / "plugins/profile/r/h.xplane.pb"
    logdir = Logdir([str(path)])
    (run,) = logdir.runs()
    assert logdir.trace(run, "h") == logdir.run(run).files[0]


def test_memory_storage(tmp_path):
    root = f"memory://{uuid.uuid4().hex}"
    with fsspec.open(f"{root}/log/plugins/profile/r1/h.a.xplane.pb", "wb") as file:
        file.write(b"12345")
    with fsspec.open(f"{root}/log/train/plugins/profile/r2/h.xplane.pb.gz", "wb") as file:
        file.write(b"1")
    logdir = Logdir(f"{root}/log")
    assert list(logdir.runs()) == ["train/r2", "r1"]
    (file,) = logdir.run("r1").files
    assert (file.host, file.bytes) == ("h.a", 5)
    assert file.modified_ns > 0
    with fsspec.open(file.url, "rb") as stream:
        assert stream.read() == b"12345"
    assert runs(file.url) == {"r1": ["h.a"]}
    assert runs(f"{root}/log/plugins/profile/r1") == {"r1": ["h.a"]}
    with fsspec.open(f"{root}/log/plugins/profile/r3/h.xplane.pb", "wb") as stream:
        stream.write(b"1")
    until(lambda: "r3" in logdir.runs())


def test_unknown_scheme_is_an_error_not_a_crash():
    with pytest.raises(Unreachable, match="nosuch://"):
        Logdir("nosuch://x/y").runs()


def test_runs_of_equal_names_are_told_apart(tmp_path):
    make(tmp_path, "r/x.xplane.pb", "r/plugins/profile/r/h.xplane.pb")
    assert runs(str(tmp_path / "r")) == {"r": ["x"], "profile/r": ["h"]}
    make(tmp_path, "a/log/plugins/profile/r/h.xplane.pb", "b/log/plugins/profile/r/h.xplane.pb")
    two = runs([str(tmp_path / "a/log"), str(tmp_path / "b/log")])
    assert two == {"r": ["h"], "profile/r": ["h"]}
