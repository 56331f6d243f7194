"""Walking through logdirs: links, what cannot be read, budgets, and what waits for nobody."""

import sys
import threading
from collections import Counter
from typing import Any

import pytest
from helpers.logdirs import ignored, make, runs
from helpers.patience import PATIENCE_S, until

from tbprof.storage.logdir import Logdir
from tbprof.storage.logdir_scan import Budget


def test_activity_never_waits_and_turns_on_when_a_run_appears(tmp_path, monkeypatch):
    may_search, search = threading.Event(), Logdir._search
    monkeypatch.setattr(Logdir, "_search", lambda *on: may_search.wait(PATIENCE_S) and search(*on))
    logdir = Logdir(str(tmp_path))
    assert logdir.is_active() is False
    assert logdir.report().scanning
    may_search.set()
    until(logdir.is_bare)
    make(tmp_path, "plugins/profile/r/h.xplane.pb")
    until(logdir.is_active)


def test_vanished_directories_are_no_errors(tmp_path):
    make(tmp_path, "plugins/profile/r/h.xplane.pb")
    logdir = Logdir(str(tmp_path))
    assert list(logdir.runs()) == ["r"]
    (tmp_path / "plugins/profile/r/h.xplane.pb").unlink()
    (tmp_path / "plugins/profile/r").rmdir()
    assert logdir.run("r").name == "r"
    until(lambda: not logdir.runs())


def test_unreadable_directories_are_reported(unprivileged):
    make(unprivileged, "plugins/profile/open/h.xplane.pb", "plugins/profile/shut/h.xplane.pb")
    shut = unprivileged / "plugins/profile/shut"
    shut.chmod(0)
    try:
        logdir = Logdir(str(unprivileged))
        assert set(logdir.runs()) == {"open", "shut"}
        assert "permission" in ignored(logdir)["shut"]
    finally:
        shut.chmod(0o700)


def test_nothing_is_written_into_the_logdir(tmp_path):
    make(tmp_path, "plugins/profile/r/h.xplane.pb", "a/b/")
    before = sorted((str(p), p.stat().st_mtime_ns) for p in [tmp_path, *tmp_path.rglob("*")])
    logdir = Logdir(str(tmp_path))
    logdir.run("r")
    logdir.report()
    assert (
        sorted((str(p), p.stat().st_mtime_ns) for p in [tmp_path, *tmp_path.rglob("*")]) == before
    )


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_link_loops_end(tmp_path):
    make(tmp_path, "a/plugins/profile/r/h.xplane.pb", "b/")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "a/to_b").symlink_to(tmp_path / "b")
    (tmp_path / "b/to_a").symlink_to(tmp_path / "a")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    found = runs(str(tmp_path))
    assert found["a/r"] == ["h"]
    assert set(found) == {"a/r", "b/to_a/r"}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_linked_runs_and_logdirs_are_followed(tmp_path):
    make(tmp_path / "store", "plugins/profile/r/h.xplane.pb")
    make(tmp_path / "log", "plugins/profile/")
    (tmp_path / "log/exp").symlink_to(tmp_path / "store")
    (tmp_path / "log/plugins/profile/latest").symlink_to(tmp_path / "store/plugins/profile/r")
    assert runs(str(tmp_path / "log")) == {"latest": ["h"], "exp/r": ["h"]}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_linked_files_are_read(tmp_path):
    make(tmp_path, "data/t.pb", "log/plugins/profile/r/")
    (tmp_path / "log/plugins/profile/r/h.xplane.pb").symlink_to(tmp_path / "data/t.pb")
    assert runs(str(tmp_path / "log")) == {"r": ["h"]}


def test_scan_stops_at_its_budget_and_says_so(tmp_path):
    make(tmp_path, "plugins/profile/r/h.xplane.pb", *(f"d{i}/e/" for i in range(50)))
    logdir = Logdir(str(tmp_path), budget=Budget(directories=20))
    assert list(logdir.runs()) == ["r"]  # what leads to profiles goes first
    report = logdir.report()
    assert report.directories == 20
    assert report.stopped == "after 20 directories"
    assert not report.scanning


def test_scan_stops_when_its_time_is_over(tmp_path):
    make(tmp_path, *(f"d{i}/" for i in range(50)))
    logdir = Logdir(str(tmp_path), budget=Budget(seconds=0.0))
    assert logdir.runs() == {}
    assert logdir.report().stopped == "after 0 seconds"


def test_unrelated_files_are_listed_and_nothing_more(tmp_path, monkeypatch):
    for directory in range(20):
        (tmp_path / f"run{directory:02}").mkdir()
        for file in range(500):
            (tmp_path / f"run{directory:02}" / f"f{file}.bin").touch()
    make(tmp_path, "run10/plugins/profile/r/h.xplane.pb")
    calls: Counter[str] = Counter()

    def count(_frame, event, function):
        if event == "c_call":
            calls[function.__name__] += 1

    search = Logdir._search

    def searching(*on: Any) -> None:
        sys.setprofile(count)
        search(*on)

    monkeypatch.setattr(Logdir, "_search", searching)
    logdir = Logdir(str(tmp_path), wait_s=60)
    assert list(logdir.runs()) == ["run10/r"]
    assert logdir.report().files == 10_000 + 1
    assert calls["scandir"] == 1 + 20 + 3
    assert calls["stat"] + calls["lstat"] < 20


def test_bare_means_that_no_other_dashboard_has_data_either(tmp_path):
    make(tmp_path, "run/notes.txt")
    bare = Logdir(str(tmp_path))
    assert not bare.is_bare()  # not known yet
    bare.runs()
    assert bare.is_bare()
    make(tmp_path, "run/events.out.tfevents.1")
    other = Logdir(str(tmp_path))
    other.runs()
    assert not other.is_bare()
    assert Logdir("").is_bare()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_directories_that_link_to_each_other_are_walked_a_few_times_at_most(tmp_path):
    names = [f"d{number}" for number in range(10)]
    make(tmp_path, *(f"{name}/" for name in names), "d0/plugins/profile/r/h.xplane.pb")
    for name in names:
        for other in names:
            (tmp_path / name / f"to_{other}").symlink_to(tmp_path / other)
    logdir = Logdir(str(tmp_path))
    assert "d0/r" in logdir.runs()
    assert logdir.report().directories < 200
    assert logdir.report().stopped is None
