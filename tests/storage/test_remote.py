"""Logdirs on real servers of each kind: S3 (moto), Google Cloud Storage (fake-gcs-server), Azure
(Azurite), a web server (Python's), and fsspec's memory."""

import gzip
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.asking import client_of
from helpers.patience import until
from helpers.started.storage_servers import SERVED, WRITABLE, azure_connection
from traces import draw

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage import logdir as logdir_module
from tbprof.storage import logdir_scan
from tbprof.storage.files import local_trace
from tbprof.storage.logdir import Logdir, TraceFile
from tbprof.storage.new_run import NewRun, NotWritten
from tbprof.storage.remote import remote_files
from tbprof.storage.results import ResultStore

RUN = "plugins/profile/r1"
LARGE = random.Random(1).randbytes((9 << 20) + 17)
# Of the tests' own uploads.
in_one_piece = pytest.mark.filterwarnings("ignore:Sending a large body")
served = pytest.mark.parametrize("server", SERVED, indirect=True)


def trace(kernel: str = "matmul") -> bytes:
    """A trace of one kernel."""
    stats = {"k": {"kernel_details": "regs:8"}}
    drawing = {"/device:GPU:0": "Stream #1(Compute) |.kk."}
    return draw(drawing, names={"k": kernel}, stats=stats)


def content(logdir: str, store: ResultStore | None) -> bytes:
    (file,) = Logdir(logdir, wait_s=60).run("r1").files
    return read(file, store)


def read(file: TraceFile, store: ResultStore | None = None) -> bytes:
    with local_trace(file, store) as local:
        return Path(local).read_bytes()


def get(logdir: str):
    client = client_of(logdir)
    return lambda route, **query: client.get(f"/data/plugin/profile/{route}", query_string=query)


def test_runs_are_listed_and_pages_computed(storage):
    storage.write(f"{RUN}/h0.xplane.pb", trace())
    storage.write(f"train/{RUN}/w 1.xplane.pb.gz", gzip.compress(trace()))
    page = get(storage.url)
    until(lambda: page("runs").json == ["train/r1", "r1"])
    for run in ("train/r1", "r1"):
        table = page("data", run=run, tag="kernel_stats").json
        assert table["rows"][0]["c"][1]["v"] == "matmul"
    assert page("hosts", run="train/r1", tag="kernel_stats").json == [{"hostname": "w 1"}]


def test_hosts_and_runs_appear_while_a_job_writes(storage):
    storage.write(f"{RUN}/h0.xplane.pb", trace())
    logdir = Logdir(storage.url, wait_s=60)
    before = logdir.run("r1").files
    storage.write(f"{RUN}/h0.xplane.pb", trace("a longer name"))
    storage.write(f"{RUN}/h1.xplane.pb", trace())
    after = logdir.run("r1").files
    assert [file.host for file in after] == ["h0", "h1"]
    assert after[0].bytes > before[0].bytes
    storage.write("plugins/profile/r2/h0.xplane.pb", trace())
    until(lambda: list(logdir.runs()) == ["r2", "r1"])


def test_a_single_file_is_a_run(storage):
    storage.write(f"{RUN}/h0.xplane.pb", b"abc")
    assert content(f"{storage.url}/{RUN}/h0.xplane.pb", None) == b"abc"


@in_one_piece
def test_large_files_arrive_as_they_are_and_are_kept(storage, store):
    storage.write(f"{RUN}/h0.xplane.pb", LARGE)
    assert content(storage.url, store) == LARGE
    assert content(storage.url, store) == LARGE
    assert len(list(store.directory.iterdir())) == 1


@in_one_piece
@pytest.mark.parametrize("server", ["s3", "gs", "az"], indirect=True)
def test_large_files_are_read_in_ranges(storage):
    storage.write(f"{RUN}/h0.xplane.pb", LARGE)
    (file,) = Logdir(storage.url, wait_s=60).run("r1").files
    with storage.proxy.counting() as counts:
        read(file)
    assert counts == {"GET": 3}


@served
@pytest.mark.parametrize("fault", ["busy", "broken"])
def test_what_fails_for_a_moment_is_tried_again(storage, fault):
    data = random.Random(1).randbytes(300_000)
    storage.write(f"{RUN}/h0.xplane.pb", data)
    (file,) = Logdir(storage.url, wait_s=60).run("r1").files
    with storage.proxy.failing(fault, fault):
        assert read(file) == data


@served
def test_listings_are_tried_again(storage):
    storage.write(f"{RUN}/h0.xplane.pb", trace())
    with storage.proxy.failing("busy", "busy"):
        assert list(Logdir(storage.url, wait_s=60).runs()) == ["r1"]


@pytest.mark.parametrize("server", WRITABLE, indirect=True)
def test_new_runs_are_written_as_a_whole_and_never_replace_others(storage):
    for name in ("r1", "r1_2"):
        run = NewRun(storage.url, "r1")
        assert run.name == name
        run.write("h0.xplane.pb", memoryview(trace()))
    with pytest.raises(NotWritten, match="already exists"):
        run.write("h0.xplane.pb", memoryview(b""))
    assert sorted(Logdir(storage.url, wait_s=60).runs()) == ["r1", "r1_2"]
    assert content(storage.url, None) == trace()


@pytest.mark.parametrize("server", ["http"], indirect=True)
def test_web_servers_are_not_written_to(storage):
    with pytest.raises(NotWritten, match="http:// can only be read"):
        NewRun(storage.url, "r1")


# Requests of the first page, of one more when the run's listing is old, and of a search for new
# runs. S3: two to see that the logdir is a folder, a listing of it, of both folders on the way and
# of three runs, and the file.
REQUESTS = {"s3": (9, 1, 5), "gs": (9, 1, 5), "az": (15, 2, 8), "http": (10, 2, 3)}


@served
def test_later_pages_need_one_listing_and_searches_leave_known_runs_alone(storage, monkeypatch):
    monkeypatch.setattr(logdir_scan, "SETTLED_S", -3600.0)
    for number in range(3):
        storage.write(f"plugins/profile/r{number}/h0.xplane.pb", trace())
    logdir = Logdir(storage.url, wait_s=60)
    engine = Engine(logdir)

    def requests(act: Callable[[], object], age_s: float = 0.0) -> int:
        monkeypatch.setattr(logdir_module, "REMOTE_AGE_S", age_s)
        with storage.proxy.counting() as counts:
            act()
        return counts.total()

    def page() -> object:
        return engine.data(DataRequest("r1", "kernel_stats"))

    def search() -> None:
        searches = logdir._searches
        logdir.search_again()
        until(lambda: logdir._searches > searches)

    first = requests(lambda: (engine.session("r1"), page()), 60.0)
    assert requests(lambda: (engine.session("r1"), page()), 60.0) == 0
    kind = storage.url.partition("://")[0]
    assert (first, requests(page), requests(search)) == REQUESTS[kind]
    assert list(logdir.runs()) == ["r2", "r1", "r0"]


def failure(url: str) -> TbprofError:
    with pytest.raises(Unreachable) as raised:
        Logdir(url, wait_s=60).runs()
    return raised.value


@served
def test_what_is_not_there_is_said(storage):
    missing = storage.url.replace("traces", "no-such-bucket")
    logdir = Logdir(missing, wait_s=60)
    assert logdir.runs() == {}
    assert [(entry.path, entry.reason) for entry in logdir.report().ignored] == [
        (missing, "does not exist")
    ]


LOGINS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "run gcloud auth application-default login",
    "az": "set AZURE_STORAGE_CONNECTION_STRING",
    "http": "the server requires a login",
}


@served
def test_refused_access_names_the_setting(storage):
    with storage.proxy.always("denied"):
        error = failure(storage.url)
    assert error.message.startswith(f"{storage.url} refuses access: ")
    assert error.hint.startswith(LOGINS[storage.url.partition("://")[0]])


@pytest.mark.parametrize(
    ("server", "settings", "said"),
    [
        (
            "s3",
            {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            "Unable to locate credentials",
        ),
        ("az", {"AZURE_STORAGE_CONNECTION_STRING": ""}, "unable to connect to account for Must"),
        (
            "az",
            {"AZURE_STORAGE_CONNECTION_STRING": azure_connection("URL", "d3Jvbmc=")},
            "Operation returned an invalid status",
        ),
    ],
    indirect=["server"],
)
def test_missing_and_wrong_credentials_are_named(storage, settings, said, monkeypatch):
    for name, value in settings.items():
        value = value.replace("URL", storage.proxy.url)
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    error = failure(storage.url)
    assert error.message.startswith(f"{storage.url} refuses access: {said}")
    assert error.hint.startswith(LOGINS[storage.url.partition("://")[0]])


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_who_logs_in_later_need_not_start_again(storage, monkeypatch):
    storage.write(f"{RUN}/h0.xplane.pb", trace())
    logdir = Logdir(storage.url, wait_s=60)
    with monkeypatch.context() as patch:
        patch.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(Unreachable):
            logdir.runs()
    until(lambda: not failed(logdir))
    assert list(logdir.runs()) == ["r1"]


def failed(logdir: Logdir) -> bool:
    try:
        logdir.runs()
    except Unreachable:
        return True
    return False


@served
def test_a_server_that_is_gone_is_named_in_time(storage, monkeypatch, free_port):
    monkeypatch.setattr(remote_files, "_SECONDS", 2.0)
    gone = f"http://127.0.0.1:{free_port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", gone)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gone)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", azure_connection(gone))
    url = storage.url.replace(storage.proxy.url, gone)
    error = failure(url)
    assert error.message.startswith(
        (f"{url} does not respond: ", f"{url} does not respond in time")
    )
    assert error.hint == "check the address and the network where tbprof runs"


@pytest.mark.parametrize(
    ("scheme", "package", "extra"),
    [
        ("s3", "s3fs", "s3"),
        ("gs", "gcsfs", "gcs"),
        ("az", "adlfs", "azure"),
        ("https", "aiohttp", "http"),
    ],
)
def test_a_missing_package_is_named(scheme, package, extra, monkeypatch):
    monkeypatch.setattr(remote_files, "_opened", {})
    for name in list(sys.modules):
        if name.startswith((f"{package}.", "fsspec.implementations.http")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, scheme, raising=False)
    error = failure(f"{scheme}://bucket/logs")
    assert error.message == f"the package that reads {scheme}:// is not installed"
    assert error.hint == f"pip install 'tbprof[{extra}]'"
