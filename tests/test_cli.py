"""The command, as processes of its own and in this one."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from helpers.asking import client_of
from helpers.commands import ROOT, python_prints, run
from helpers.patience import PATIENCE_S
from traces import draw, write_run

import tbprof

RUN = "tensorflow_cpu_training"
RUNS = ["tensorflow_input_bound", RUN, "jax_cpu_training"]
TOOL = "framework_op_stats"


def tbprof_process(*arguments: object, **options: Any) -> subprocess.Popen[Any]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "tbprof.cli", *map(str, arguments)], env=environment, **options
    )


def test_version() -> None:
    assert run("--version").stdout == f"tbprof, version {tbprof.__version__}\n"


def test_export_prints_exactly_the_bytes_of_the_data_route(sample_logdir: Path) -> None:
    client = client_of(sample_logdir)
    base = f"/data/plugin/profile/data?run={RUN}&tag={TOOL}"
    process = tbprof_process(
        "export", sample_logdir, "--run", RUN, "--tool", TOOL, stdout=subprocess.PIPE
    )
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert output == client.get(base).data
    csv = run("export", sample_logdir, "--run", RUN, "--tool", TOOL, "--format", "csv",
              "--table", "1", "--host", "host0")  # fmt: skip
    assert csv.exit_code == 0
    assert csv.stdout_bytes == client.get(f"{base}&tqx=out:csv&table=1&host=host0").data


def test_export_takes_a_run_directory_or_files(sample_logdir: Path, tmp_path: Path) -> None:
    directory = sample_logdir / "plugins/profile" / RUN
    whole = run("export", directory, "--tool", TOOL).stdout_bytes
    assert run("export", directory / "host0.xplane.pb", "--tool", TOOL).stdout_bytes == whole
    copy = tmp_path / "any name.pb"
    shutil.copy(directory / "host0.xplane.pb", copy)
    target = tmp_path / "out.json"
    result = run("export", copy, "--tool", TOOL, "-o", target)
    assert (result.exit_code, result.stdout_bytes) == (0, b"")
    assert target.read_bytes() == whole


def test_tools_lists_runs_hosts_and_tools_with_reasons(sample_logdir: Path) -> None:
    text = run("tools", sample_logdir)
    assert text.exit_code == 0
    assert re.search(rf"^{RUN}  \(1 host, [\d.]+ MB\)$", text.stdout, re.M)
    assert re.search(rf"^  tool  {TOOL}\s+available$", text.stdout, re.M)
    assert re.search(r"^  tool  kernel_stats\s+no data: .*GPU", text.stdout, re.M)
    sessions = json.loads(run("tools", sample_logdir, "--json").stdout)
    assert [session["run"] for session in sessions] == RUNS
    assert sessions[0]["hosts"][0]["hostname"] == "host0"


def test_tools_lists_few_of_many_hosts_and_what_cannot_be_read(tmp_path: Path) -> None:
    hosts = {f"h{host:02}": draw({"/host:CPU": "t |aa"}) for host in range(40)}
    write_run(tmp_path, {**hosts, "h30": b"not a trace"}, "pod")
    lines = run("tools", tmp_path).stdout.splitlines()
    listed = [line.split()[1] for line in lines if line.startswith("  host")]
    assert listed == ["h30", *(f"h{host:02}" for host in range(15))]
    assert "  and 24 more hosts; --json lists all" in lines
    [session] = json.loads(run("tools", tmp_path, "--json").stdout)
    assert len(session["hosts"]) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "{logdir}", "--tool", "nope", "--run", RUN], "there is no tool 'nope'"),
        (["export", "{logdir}", "--tool", TOOL], "there are 3 runs"),
        (["export", "{logdir}", "--tool", TOOL, "--run", "x"], "no run is named 'x'"),
        (["export", "{logdir}", "--tool", TOOL, "--run", RUN, "--host", "x"], "host 'x'"),
        (["export", "{logdir}", "--tool", "kernel_stats", "--run", RUN], "nothing to show"),
        (["export", "{logdir}", "--tool", TOOL, "--run", RUN, "--format", "csv", "--table", "9"],
         "has no table 9"),
        (["export", "{logdir}", "--tool", TOOL, "--run", RUN, "-o", "/no/such/x"], "be written"),
        (["export", "/no/such/place", "--tool", TOOL], "/no/such/place does not exist"),
        (["tools", "/no/such/\x1b[31mplace"], "/no/such/\\x1b[31mplace does not exist"),
        (["tools", "nosuch://x"], "nosuch://"),
        (["serve", "{logdir}", "--host", "203.0.113.1"], "cannot listen"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_a_hint(sample_logdir: Path, arguments: Any, message: Any) -> None:
    result = run(*(argument.format(logdir=sample_logdir) for argument in arguments))
    assert result.exit_code == 1
    assert result.stdout == ""
    first, *hint = result.stderr.splitlines()
    assert first.startswith("tbprof: ")
    assert message in first
    assert [line[:6] for line in hint] in ([], ["hint: "])


@pytest.mark.parametrize(
    "arguments",
    [["export"], ["export", "x"], ["tools"], ["serve"], ["nope"], ["serve", "x", "--port", "x"],
     ["serve", "x", "--port", "70000"], ["export", "x", "--tool", "t", "--format", "xml"]],
)  # fmt: skip
def test_wrong_usage_is_status_2(arguments: Any) -> None:
    assert run(*arguments).exit_code == 2


def test_options_may_stand_anywhere_among_the_paths(sample_logdir: Path) -> None:
    directory = sample_logdir / "plugins/profile" / RUN
    plain = run("export", directory / "host0.xplane.pb", "--tool", TOOL)
    assert plain.exit_code == 0
    trace = directory / "host0.xplane.pb"
    among = run("export", trace, "--tool", TOOL, trace, "--format=json")
    assert (among.exit_code, among.stdout_bytes) == (0, plain.stdout_bytes)
    behind = run("export", "--tool", TOOL, "-o-", "--", trace)
    assert (behind.exit_code, behind.stdout_bytes) == (0, plain.stdout_bytes)


def test_help_names_the_commands_and_their_choices() -> None:
    listed = run("--help")
    assert listed.exit_code == 0
    commands = ["serve", "tools", "export", "capture", "doctor"]
    assert re.findall(r"^    (\w+) +\w", listed.stdout, re.M) == commands
    for command in commands:
        shown = run(command, "-h")
        assert shown.exit_code == 0
        assert shown.stdout.startswith(f"usage: tbprof {command} ")
    said = " ".join(run("serve", "--help").stdout.split())
    assert "port to listen on; 0 picks a free one (default: 6006)" in said
    assert "repeated; * allows any --token TEXT" in said
    assert run().exit_code == 2


def test_help_imports_little() -> None:
    code = "import sys, tbprof.cli\ntry: tbprof.cli.main(['--help'])\nfinally: print(*sys.modules)"
    loaded = python_prints("-c", code).splitlines()[-1].split()
    assert "tbprof.cli" in loaded
    rare = {"dataclasses", "inspect", "json", "logging", "numpy", "pathlib", "shutil", "threading"}
    assert rare.isdisjoint(loaded)


@pytest.mark.parametrize(("given", "taken"), [(None, "1"), ("4", "4")])
def test_numpy_starts_no_threads_that_nobody_needs(
    given: Any, taken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import os, tbprof.cli as cli; "
        "cli.main = lambda: print(os.environ['OPENBLAS_NUM_THREADS']); cli.run()"
    )
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    assert python_prints("-c", code) == f"{taken}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_reader_that_leaves_early_is_no_error(sample_logdir: Path) -> None:
    process = tbprof_process("export", sample_logdir, "--run", RUN, "--tool", TOOL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(PATIENCE_S) in (0, 1)
    assert errors == b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_serve_answers_until_ctrl_c(sample_logdir: Path) -> None:
    def listen_to_ctrl_c() -> None:  # which children of a shell's background jobs ignore
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = tbprof_process("serve", sample_logdir, "--port", "0",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=listen_to_ctrl_c)  # fmt: skip
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
    assert found
    with urllib.request.urlopen(found[0], timeout=PATIENCE_S) as page:
        assert page.url.endswith("/data/plugin/profile/index.html")
    with urllib.request.urlopen(f"{found[0]}data/plugin/profile/runs", timeout=PATIENCE_S) as runs:
        assert json.load(runs)[0] == RUNS[0]
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, output, errors) == (0, "", "")


def test_a_choice_of_marker_reaches_the_tool(sample_logdir: Path, tmp_path: Path) -> None:
    marked, chosen = tmp_path / "marked.json", tmp_path / "chosen.json"
    export = ["export", sample_logdir, "--run", RUN, "--tool", "pod_viewer", "-o"]
    assert run(*export, marked).exit_code == 0
    choice = ["--param", "marker=EagerLocalExecute: IteratorGetNext"]
    assert run(*export, chosen, *choice).exit_code == 0
    names = [
        [step["stepName"].split()[0] for step in steps["podStatsSequence"]["podStatsMap"]]
        for steps in (json.loads(path.read_bytes()) for path in (marked, chosen))
    ]
    assert names == [["train"] * 8, ["EagerLocalExecute:"] * 8]
    view = tbprof.open_logdir(sample_logdir, cache=False).runs[RUN]
    table = view.tool("pod_viewer", marker="EagerLocalExecute: IteratorGetNext").tables[0]
    assert table.column("step_name").values[0].startswith("EagerLocalExecute: IteratorGetNext")


@pytest.mark.parametrize("param", ["marker", "color=red", "=x"])
def test_a_choice_that_the_tool_does_not_know_is_told(sample_logdir: Path, param: Any) -> None:
    result = run("export", sample_logdir, "--run", RUN, "--tool", "pod_viewer", "--param", param)
    assert result.exit_code == 1
    assert "pod_viewer does not take" in result.stderr
    assert "it takes marker, step, steps, as NAME=VALUE" in result.stderr


def test_python_interface(sample_logdir: Path) -> None:
    view = tbprof.open_logdir(sample_logdir, cache=False)
    assert list(view.runs) == RUNS
    assert len(view.runs) == 3
    one = view.runs[RUN]
    assert one.hosts == ("host0",)
    assert one.tools == (
        "overview_page", "input_pipeline_analyzer", "tf_data_bottleneck_analysis", TOOL,
        "memory_profile", "pod_viewer", "trace_viewer",
    )  # fmt: skip
    result = one.tool(TOOL)
    assert len(result.tables) == 3
    assert result.warnings == ()
    assert one.tool(TOOL, hosts=["host0"]).tables[0].columns[3].values == (
        result.tables[0].columns[3].values
    )
    with pytest.raises(KeyError):
        view.runs["nope"]
    with pytest.raises(tbprof.base.errors.HostNotFound):
        one.tool(TOOL, hosts="nope")
    with pytest.raises(AttributeError):
        _ = tbprof.nope


def test_tables_become_pandas(sample_logdir: Path) -> None:
    pytest.importorskip("pandas")
    result = tbprof.open_logdir(sample_logdir).runs[RUN].tool(TOOL)
    frame = result.to_pandas(1)
    assert list(frame.columns) == [column.id for column in result.tables[1].columns]
    assert len(frame) == len(result.tables[1])
    with pytest.raises(tbprof.base.errors.BadRequest):
        result.to_pandas(3)


def test_a_command_ends_after_what_it_writes_to_the_cache(tmp_path: Path) -> None:
    code = """
import sys, threading, time
from pathlib import Path
from tbprof import cli

def write():
    time.sleep(0.3)
    Path(sys.argv[1]).touch()

cli.main = lambda: threading.Thread(target=write).start()
cli.run()
"""
    python_prints("-c", code, tmp_path / "kept")
    assert (tmp_path / "kept").exists()
