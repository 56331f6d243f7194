"""A trace as a file: `tbprof export --tool trace_viewer`, and from Python."""

import csv
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.asking import client_of
from helpers.commands import run
from helpers.patience import PATIENCE_S
from test_cli import RUN, tbprof_process

import tbprof
from tbprof.base.errors import BadRequest, HostNotFound

TOOL = "trace_viewer"


@pytest.fixture(scope="module")
def served(sample_logdir: Path) -> bytes:
    client = client_of(sample_logdir)
    return bytes(client.get(f"/data/plugin/profile/data?run={RUN}&tag={TOOL}").data)


def test_export_prints_the_bytes_of_the_data_route(sample_logdir: Path, served: Any) -> None:
    process = tbprof_process(
        "export", sample_logdir, "--run", RUN, "--tool", TOOL, stdout=subprocess.PIPE
    )
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, output) == (0, served)
    assert run("export", sample_logdir, "--run", RUN, "--tool", "trace_viewer@").stdout_bytes == (
        served
    )


def test_export_compresses_a_file_whose_name_says_so(
    sample_logdir: Path, served: Any, tmp_path: Path
) -> None:
    for name in ("trace.json", "trace.json.gz"):
        found = run("export", sample_logdir, "--run", RUN, "--tool", TOOL, "-o", tmp_path / name)
        assert (found.exit_code, found.stdout) == (0, "")
    assert (tmp_path / "trace.json").read_bytes() == served
    assert gzip.decompress((tmp_path / "trace.json.gz").read_bytes()) == served
    assert len(list(tmp_path.iterdir())) == 2


def test_export_of_a_range_and_as_csv(sample_logdir: Path, served: Any, tmp_path: Path) -> None:
    times = [event["ts"] for event in json.loads(served)["traceEvents"] if event["ph"] == "X"]
    end_ms = sorted(times)[len(times) // 2] / 1000
    arguments = ["export", sample_logdir, "--run", RUN, "--tool", TOOL]
    limit = ["--param", f"end_time_ms={end_ms}", "--param", "derived=0"]
    part = json.loads(run(*arguments, *limit).stdout_bytes)
    events = [event for event in part["traceEvents"] if event["ph"] in "Xi"]
    assert 0.3 * len(times) < len(events) < 0.7 * len(times)
    assert run(*arguments, *limit, "--format", "csv", "-o", tmp_path / "x.csv").exit_code == 0
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(float(row["start_us"]) for row in rows) == sorted(event["ts"] for event in events)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--param", "start_time_ms=x"], "start_time_ms='x' is not a time"),
        (["--param", "marker=x"], "trace_viewer does not take 'marker=x'"),
        (["--format", "csv", "--table", "2"], "has no table 2"),
        (["-o", "/no/such/x.json.gz"], "cannot be written"),
        (["--host", "x"], "host 'x'"),
    ],
)
def test_errors_leave_no_file(
    sample_logdir: Path, tmp_path: Path, arguments: Any, message: Any
) -> None:
    output = [] if "-o" in arguments else ["-o", tmp_path / "out.json"]
    found = run("export", sample_logdir, "--run", RUN, "--tool", TOOL, *arguments, *output)
    assert (found.exit_code, found.stdout) == (1, "")
    assert message in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_from_python(sample_logdir: Path, served: Any, tmp_path: Path) -> None:
    view = tbprof.open_logdir(sample_logdir, cache=False).runs[RUN]
    trace = view.trace()
    assert b"".join(trace.chunks()) == served
    trace.to_chrome_json(tmp_path / "trace.json.gz")
    assert gzip.decompress((tmp_path / "trace.json.gz").read_bytes()) == served
    trace.to_csv(tmp_path / "trace.csv")
    head = (tmp_path / "trace.csv").read_bytes().split(b"\r\n", 1)[0]
    assert head == b"host,process,thread,name,start_us,duration_us"
    part = json.loads(b"".join(view.trace("host0", start_ms=0, end_ms=0.001).chunks()))
    assert part["metadata"]["range_us"] == [0, 1]
    with pytest.raises(BadRequest, match="no tables") as error:
        view.tool(TOOL)
    assert "run.trace()" in error.value.hint
    with pytest.raises(HostNotFound):
        view.trace(["nope"]).chunks()
    with pytest.raises(BadRequest):
        view.trace(start_ms=2, end_ms=1).chunks()
