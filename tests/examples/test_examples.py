"""The recording scripts leave traces with the steps that they promise; the samples are clean."""

import re
from pathlib import Path

import pytest
from helpers.started.programs import QUICK_TO_COMPILE, ForkServer, run
from helpers.started.recordings import recorded
from traces import message_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAMPLES = sorted((EXAMPLES / "logdir").rglob("*.xplane.pb"))


def read(path: Path):
    return message_of(path.read_bytes())


def steps(space) -> list[int]:
    """Numbers of the steps that the script marked as "train", in order of their start."""
    found = []
    for plane in space.planes:
        names = {key: entry.name for key, entry in plane.event_metadata.items()}
        keys = {key: entry.name for key, entry in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                stats = {keys[stat.metadata_id]: stat.int64_value for stat in event.stats}
                if names[event.metadata_id] == "train" and stats.get("_r") == 1:
                    found.append((line.timestamp_ns * 1000 + event.offset_ps, stats["step_num"]))
    return [number for _, number in sorted(found)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "numbers"),
    [
        ("record_tensorflow_cpu.py", list(range(8))),
        ("record_input_bound.py", list(range(8))),
        ("record_input_bound.py --fixed", list(range(8))),
        ("record_keras_callback.py", None),
        ("record_custom_loop.py", list(range(10, 15))),
        ("record_jax.py", list(range(8))),
        ("record_gpu_jax.py --cpu", list(range(6))),
    ],
)
def test_script_records_its_steps(
    record_python: str,
    tensorflow_programs: ForkServer,
    script: str,
    numbers: list[int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, *options = script.split()

    def record(folder: Path) -> None:
        command = (str(EXAMPLES / name), *options, str(folder))
        if "import tensorflow" in code:
            said = tensorflow_programs.run(*command)
        else:
            monkeypatch.setenv("XLA_FLAGS", QUICK_TO_COMPILE)
            said = run(record_python, *command)
        assert f"recorded in {folder}" in said

    code = (EXAMPLES / name).read_text(encoding="utf-8")
    folder = recorded(record_python, [script, code, QUICK_TO_COMPILE], record)
    [trace] = folder.rglob("plugins/profile/*/*.xplane.pb")
    space = read(trace)
    assert [plane.name for plane in space.planes].count("/host:CPU") == 1
    if numbers is not None:
        assert steps(space) == numbers


def test_samples_are_the_runs_that_the_readme_names() -> None:
    runs = [path.parent.name for path in SAMPLES]
    assert runs == ["jax_cpu_training", "tensorflow_cpu_training", "tensorflow_input_bound"]
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in SAMPLES:
        events = sum(len(line.events) for plane in read(path).planes for line in plane.lines)
        assert re.search(rf"`{path.parent.name}` .*\| {events:,} \|", readme)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_sample_is_small_and_names_no_machine(path: Path) -> None:
    content = path.read_bytes()
    assert len(content) < 2 << 20
    assert re.search(rb"/(home|root|tmp|Users)/", content) is None
    space = read(path)
    assert list(space.hostnames) == ["host0"]
    assert steps(space) == list(range(8))
