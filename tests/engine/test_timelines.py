"""Timelines of files: built once, kept, mapped, and rebuilt where they must be."""

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from builders.small_timeline import make_timeline
from helpers.kept_files import overwrite
from traces import draw, write_run

from tbprof.base.errors import TbprofError
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.timelines import timeline_cache as module
from tbprof.engine.timelines.timeline_cache import BUILDERS, TimelineCache
from tbprof.storage.arrays import SUFFIX
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.timeline.tiles.tiles import encode_tiles
from tbprof.timeline.tiles.visible_events import all_events


class Folder:
    """A logdir with one file, a cache, and a count of what was built."""

    def __init__(self, path) -> None:
        self.path = path
        self.run = write_run(path / "logdir", {"host": draw({"/host:CPU": "a|mm.nn"})})
        self.trace = self.run / "host.xplane.pb"
        self.results: ResultStore | None = ResultStore(path / "cache")
        self.built: list[str] = []
        self.at_once: list[int] = [0, 0]  # now, at most

    def file(self):
        (file,) = Logdir([str(self.path / "logdir")]).run("run").files
        return file

    def timelines(self) -> TimelineCache:
        def build(file, _summaries, opened):
            self.built.append(file.host)
            assert opened[0].planes
            self.at_once[0] += 1
            self.at_once[1] = max(self.at_once)
            time.sleep(0.05)
            self.at_once[0] -= 1
            return make_timeline()

        builders = {"events": build, "derived": build}
        return TimelineCache(SummaryCache(self.results), self.results, builders)

    def settled(self) -> TimelineCache:
        """Timelines, once they have kept that of the file."""
        timelines = self.timelines()
        timelines.open(self.file(), "events")
        timelines.settle()
        return timelines

    def kept(self):
        return sorted((self.path / "cache").glob(f"*{SUFFIX}"))


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path)


def test_threads_share_one_build(folder):
    timelines, file = folder.timelines(), folder.file()
    told = []
    with ThreadPoolExecutor(32) as pool:
        found = list(
            pool.map(lambda _: timelines.open(file, "events", lambda: told.append(1)), range(64))
        )
    assert folder.built == ["host"]
    assert told == [1]
    assert {one.version for one in found} == {timelines.version(file, "events")}
    assert timelines.is_open(file, "events")
    assert not timelines.is_open(file, "derived")


def test_garbage_is_looked_for_again_after_a_build(folder):
    seen = []

    def build(*_args):
        seen.append(gc.isenabled())
        raise TbprofError("cannot be built")

    timelines = TimelineCache(SummaryCache(None), None, {"events": build, "derived": build})
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(timelines.open, folder.file(), part) for part in ("events", "derived")]
        errors = [one.exception() for one in asked]
    assert [type(error) for error in errors] == [TbprofError] * 2
    assert seen == [False, False]
    assert gc.isenabled()


def test_another_process_maps_what_was_kept(folder):
    first = folder.settled()
    mapped = first.open(folder.file(), "events").open_timeline.timeline
    again = folder.timelines().open(folder.file(), "events").open_timeline.timeline
    assert folder.built == ["host"]
    assert not list(folder.trace.parent.glob("*.map"))
    for one in (mapped, again):
        assert one.start_ps.tolist() == make_timeline().start_ps.tolist()
        assert not one.start_ps.flags.writeable
        assert not one.start_ps.flags.owndata


def test_built_and_mapped_columns_are_of_one_kind(folder):
    timelines = folder.timelines()
    built = timelines.open(folder.file(), "events").open_timeline.timeline
    timelines.settle()
    mapped = timelines.open(folder.file(), "events").open_timeline.timeline
    for one, other in ((built, mapped), (built.levels, mapped.levels)):
        for name in one.__dataclass_fields__:
            column = getattr(one, name)
            if isinstance(column, np.ndarray):
                assert column.flags.aligned == getattr(other, name).flags.aligned
                assert column.flags.writeable == getattr(other, name).flags.writeable
                assert column.dtype == getattr(other, name).dtype


def test_a_changed_file_is_built_anew(folder):
    timelines = folder.timelines()
    before = timelines.open(folder.file(), "events").version
    folder.trace.write_bytes(draw({"/host:CPU": "a|mm.nn.oo"}))
    os.utime(folder.trace, (1, 1))
    assert timelines.open(folder.file(), "events").version != before
    assert folder.built == ["host"] * 2


@pytest.mark.parametrize("harm", ["cut", "flip", "foreign", "gone"])
def test_a_damaged_copy_is_built_anew(folder, harm):
    folder.settled()
    (path,) = folder.kept()
    content = path.read_bytes()
    if harm == "cut":
        overwrite(path, content[: len(content) // 2])
    elif harm == "flip":
        overwrite(path, content[:-70] + bytes([content[-70] ^ 1]) + content[-69:])
    elif harm == "foreign":
        overwrite(path, b"not ours")
    else:
        path.unlink()
    folder.settled()
    assert folder.built == ["host"] * 2
    assert len(folder.kept()) == 1


def test_without_a_cache_everything_is_built(folder):
    folder.results = None
    for _ in range(2):
        timelines = folder.timelines()
        assert timelines.open(folder.file(), "events").open_timeline.timeline.start_ps.size == 3
        timelines.settle()
    assert folder.built == ["host"] * 2


def test_a_cache_that_cannot_be_written_is_no_error(folder):
    (folder.path / "cache").write_text("not a directory")
    timelines = folder.settled()
    assert timelines.open(folder.file(), "events").open_timeline.timeline.start_ps.size == 3
    assert folder.built == ["host"]


def test_a_failure_reaches_all_who_wait_and_the_next_tries_again(folder):
    timelines, file = folder.timelines(), folder.file()
    folder.trace.write_bytes(b"\x0a\xff")
    broken = folder.file()

    def ask(_):
        with pytest.raises(TbprofError):
            timelines.open(broken, "events")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(4)))
    assert not timelines.is_open(broken, "events")
    folder.trace.write_bytes(draw({"/host:CPU": "a|mm.nn"}))
    assert timelines.open(folder.file(), "events").version != timelines.version(broken, "events")
    assert file is not broken


def test_questions_can_read_the_file(folder):
    timelines = folder.timelines()
    with timelines.asking(folder.file(), "events") as kept:
        (plane,) = kept.open_timeline.space.planes
        plane.cache.get_or_compute("something", lambda: 1)
        assert kept.open_timeline.space.planes[0] is plane
    assert kept.open_timeline.space.planes[0].cache.get_or_compute("something", lambda: 2) == 2


def copies(folder, hosts: int):
    for number in range(hosts):
        path = folder.trace.with_name(f"h{number:02}.xplane.pb")
        path.write_bytes(folder.trace.read_bytes())
    folder.trace.unlink()
    return Logdir([str(folder.path / "logdir")]).run("run").files


def test_few_timelines_are_built_at_once(folder):
    timelines, files = folder.timelines(), copies(folder, 8)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda file: timelines.open(file, "events"), files))
    assert sorted(folder.built) == [file.host for file in files]
    assert folder.at_once[1] <= 2


@pytest.mark.parametrize(("most", "most_bytes"), [(3, 1 << 30), (64, 1)])
def test_the_latest_timelines_stay_open(folder, monkeypatch, most, most_bytes):
    """By number, and where the cache cannot be written by the memory that they take."""
    monkeypatch.setattr(module, "_OPEN", most)
    monkeypatch.setattr(module, "_UNMAPPED_BYTES", most_bytes)
    folder.results = None
    timelines, files = folder.timelines(), copies(folder, 6)
    for file in files:
        timelines.open(file, "events")
    stay = 3 if most == 3 else 1
    assert [timelines.is_open(file, "events") for file in files] == [
        *[False] * (6 - stay), *[True] * stay
    ]  # fmt: skip


def test_mapped_timelines_take_no_memory_of_their_own(folder):
    first = folder.timelines()
    assert first.open(folder.file(), "events").bytes > 0
    first.settle()
    assert first.open(folder.file(), "events").bytes == 0
    assert folder.timelines().open(folder.file(), "events").bytes == 0


def test_other_code_builds_anew(folder, monkeypatch):
    first = folder.timelines()
    before = first.open(folder.file(), "events").version
    first.settle()
    monkeypatch.setattr("tbprof.__version__", "other")
    assert folder.timelines().open(folder.file(), "events").version != before
    assert folder.built == ["host"] * 2


def test_many_threads_open_and_ask_at_once(folder):
    """Whether what they get was just built or is mapped already, tiles are the same."""
    rows = "\n".join(f"line{number} |{'ab.c' * 40}" for number in range(6))
    folder.trace.write_bytes(draw({"/host:CPU": rows}))
    file = folder.file()
    timelines = TimelineCache(SummaryCache(folder.results), folder.results, BUILDERS)

    def ask(number: int) -> bytes:
        timeline = timelines.open(file, "events").open_timeline.timeline
        rows = np.arange(timeline.row_first.size - 1)
        return encode_tiles(timeline, all_events(timeline), 20 - number % 2, 0, 2, rows)

    with ThreadPoolExecutor(16) as pool:
        bodies = list(pool.map(ask, range(200)))
    timelines.settle()
    assert timelines.open(file, "events").bytes == 0
    assert set(bodies) == {ask(0), ask(1)}
    assert bodies[0] != bodies[1]
