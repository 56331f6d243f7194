"""Everything that the README tells a user to type is typed here."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from helpers.patience import PATIENCE_S
from helpers.started.programs import ForkServer

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line for language, text in BLOCKS if language == "sh" for line in text.strip().splitlines()
]
PROGRAMS = [text for language, text in BLOCKS if language == "python"]
# Run by other tests: a wheel is built and installed, CI types the second, the third needs no end.
ELSEWHERE = {
    "pip install .": "tests/test_packaging.py",
    "make test": ".ci/run",
    "make run": "tests/test_readme.py::test_make_run_opens_the_samples",
    "tbprof capture localhost:6009 --logdir LOGDIR": "tests/recorded/test_capture.py",
}
SERVERS = ("tensorboard", "tbprof serve")

# What a user's program has around the lines that the README shows.
SETTINGS = {
    "callback = ": """
        import sys, tensorflow as tf
        log_dir = sys.argv[1]
        model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
        model.compile("sgd", "mse")
        batch = (tf.zeros((8, 4)), tf.zeros((8, 4)))
        dataset = tf.data.Dataset.from_tensors(batch).repeat(20)
    """,
    "with tf.profiler": """
        import itertools, sys, tensorflow as tf
        log_dir = sys.argv[1]
        train_step = tf.function(lambda batch: tf.linalg.matmul(batch, batch))
        batches = itertools.repeat(tf.zeros((64, 64)))
    """,
    "with jax.profiler": """
        import sys, jax, jax.numpy as jnp
        log_dir = sys.argv[1]
        train_step = jax.jit(lambda state: state @ state)
        state = jnp.zeros((64, 64))
    """,
}


def run(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, **more)


def command_line(line: str, logdir: Path) -> list[str]:
    """The command on the sample logdir, by this interpreter's own scripts."""
    words = shlex.split(line)
    module = {"tbprof": "tbprof.cli", "tensorboard": "tensorboard.main"}[words[0]]
    rest = [str(logdir) if word == "LOGDIR" else word for word in words[1:]]
    return [sys.executable, "-m", module, *rest]


@pytest.mark.parametrize(
    "line", [one for one in COMMANDS if one not in ELSEWHERE and not one.startswith(SERVERS)]
)
def test_command_does_what_it_says(line: str, sample_logdir: Path, tmp_path: Path) -> None:
    words = command_line(line, sample_logdir)
    if "export" in words:
        words += ["--run", "tensorflow_cpu_training"]
    result = run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert result.returncode == 0, result.stderr
    if "-o" in words:
        table = (tmp_path / words[words.index("-o") + 1]).read_text(encoding="utf-8")
        assert table.startswith("Rank,")
    else:
        assert "jax_cpu_training" in result.stdout


@pytest.mark.parametrize("line", [one for one in COMMANDS if one.startswith(SERVERS)])
def test_server_shows_the_runs(line: str, sample_logdir: Path, free_port: int) -> None:
    words = [*command_line(line, sample_logdir), "--port", str(free_port)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        runs = answer(f"http://localhost:{free_port}/data/plugin/profile/runs")
        assert "tensorflow_cpu_training" in runs
    finally:
        process.kill()
        process.communicate()


def answer(url: str) -> Any:
    """The JSON of a server that is starting."""
    for _ in range(3000):
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
                return json.load(response)
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{url} did not answer")


def test_python_program_runs(sample_logdir: Path, tmp_path: Path) -> None:
    [program] = [one for one in PROGRAMS if "tbprof" in one]
    program = program.replace('"LOGDIR"', repr(str(sample_logdir)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = run([sys.executable, "-c", program], cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert "tensorflow_cpu_training ('host0',)" in result.stdout.replace("['host0']", "('host0',)")
    with gzip.open(tmp_path / "trace.json.gz") as file:
        assert any(event["ph"] == "X" for event in json.load(file)["traceEvents"])


@pytest.mark.slow
@pytest.mark.parametrize("opening", SETTINGS)
def test_recording_leaves_a_trace(
    opening: str, record_python: str, tensorflow_programs: ForkServer, tmp_path: Path
) -> None:
    [program] = [one for one in PROGRAMS if one.startswith(opening)]
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(SETTINGS[opening]) + program, encoding="utf-8")
    if "tensorflow" in SETTINGS[opening]:
        tensorflow_programs.run(str(script), str(tmp_path))
    else:
        result = run([record_python, str(script), str(tmp_path)])
        assert result.returncode == 0, result.stderr[-2000:]
    assert list(tmp_path.rglob("plugins/profile/*/*.xplane.pb"))


def test_every_program_and_command_is_covered() -> None:
    openings = ("import tbprof", *SETTINGS)
    assert all(program.startswith(openings) for program in PROGRAMS)
    known = ("tbprof tools", "tbprof export", *SERVERS, *ELSEWHERE)
    assert all(line.startswith(known) for line in COMMANDS)


def test_pictures_and_links_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


@pytest.mark.slow
def test_make_run_opens_the_samples(free_port: int) -> None:
    if not (ROOT / ".venv").is_dir():
        pytest.skip("`make` has not set this checkout up")
    words = ["make", "run", f"PORT={free_port}"]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        runs = answer(f"http://localhost:{free_port}/data/plugin/profile/runs")
        assert runs[:2] == ["tensorflow_input_bound", "tensorflow_cpu_training"]
    finally:
        os.killpg(process.pid, 9)
        process.communicate()
