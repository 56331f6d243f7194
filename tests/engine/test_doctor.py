"""What the doctor says of good and bad logdirs."""

import shutil
from pathlib import Path

import pytest
from helpers.commands import run

from tbprof._pb import message
from tbprof.base.recorder_errors import fix_for
from tbprof.engine.doctor import Check, examine_installation, examine_logdir, examine_run
from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir


def examined(path: Path) -> list[Check]:
    logdir = Logdir(str(path), wait_s=20)
    return examine_logdir(logdir, Engine(logdir))


def about(checks: list[Check], text: str) -> Check:
    [one] = [one for one in checks if text in f"{one.about}: {one.text}"]
    return one


def write(path: Path, space: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(space.SerializeToString())  # type: ignore[attr-defined]


def test_the_installation_is_good():
    checks = examine_installation()
    assert all(one.kind != "bad" for one in checks)
    assert {"tbprof", "numpy", "grpcio", "tensorboard"} <= {one.about for one in checks}


def test_another_profile_plugin_is_named_with_the_way_out(tmp_path, monkeypatch):
    packaged = tmp_path / "xprof-2.24.2.dist-info"
    packaged.mkdir()
    (packaged / "METADATA").write_text("Metadata-Version: 2.1\nName: xprof\nVersion: 2.24.2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rival = about(examine_installation(), "xprof: 2.24.2")
    assert rival.kind == "note"
    assert "pip uninstall xprof" in rival.fix


def test_an_empty_logdir_says_what_was_searched(tmp_path):
    [one] = examined(tmp_path)
    assert one.kind == "bad"
    assert str(tmp_path) in one.text
    assert "tbprof capture" in one.fix


def test_a_missing_logdir(tmp_path):
    [one] = examined(tmp_path / "nowhere")
    assert (one.kind, one.text) == ("bad", f"{tmp_path / 'nowhere'}: does not exist")


def test_good_runs_have_steps_and_say_which_pages_they_lack(sample_logdir):
    checks = examined(sample_logdir)
    assert all(one.kind != "bad" for one in checks)
    assert about(checks, "tensorflow_cpu_training: steps").text.startswith("8 steps")
    assert "no GPU" in about(checks, "jax_cpu_training: GPU kernel stats").text


def test_bad_files_recorder_errors_and_missing_steps(tmp_path):
    folder = tmp_path / "plugins" / "profile" / "run"
    space = message("tensorflow.profiler.XSpace")
    error = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
    bad = space(errors=[error], warnings=["dropped 12 events"])
    line = bad.planes.add(name="/host:CPU").lines.add(name="main")
    bad.planes[0].stat_metadata[1].id = 1
    bad.planes[0].stat_metadata[1].name = "dropped_traces"
    bad.planes[0].stats.add(metadata_id=1, uint64_value=3)
    bad.planes[0].event_metadata[1].id = 1
    bad.planes[0].event_metadata[1].name = "work"
    line.events.add(metadata_id=1, offset_ps=0, duration_ps=1000)
    write(folder / "errors.xplane.pb", bad)
    write(folder / "empty.xplane.pb", space(hostnames=["x"]))
    (folder / "broken.xplane.pb").write_bytes(b"\xff" * 50)
    (folder / "readme.xplane.riegeli").write_bytes(b"")
    checks = examined(tmp_path)
    privileges = about(checks, error)
    assert (privileges.kind, "administrators" in privileges.fix) == ("bad", True)
    assert "fewer steps" in about(checks, "dropped 12 events").fix
    assert "fewer steps" in about(checks, "recorder dropped 3 events").fix
    assert about(checks, "run/broken").kind == "bad"
    assert "Trace('train'" in about(checks, "run: steps").fix


def test_what_is_cut_off_is_not_said_to_be_empty(sample_logdir, tmp_path):
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    whole = next(sample_logdir.rglob("jax_cpu_training/*.xplane.pb")).read_bytes()
    (folder / "half.xplane.pb").write_bytes(whole[: len(whole) // 2])
    checks = examined(tmp_path)
    [half] = [one for one in checks if one.about == "run/half"]
    assert half.kind == "bad"
    assert f"the file ends early, at byte {len(whole) // 2:,} of at least" in half.text
    assert half.fix.startswith("copy the file again")
    (folder / "half.xplane.pb").unlink()
    (folder / "half.trace.json.gz").write_bytes(b"")
    [_, none] = examined(tmp_path)
    assert (none.kind, none.about) == ("bad", "run")
    assert "no .xplane.pb" in none.text


def test_a_trace_of_nothing_says_so_once(tmp_path):
    folder = tmp_path / "plugins" / "profile" / "run"
    idle = message("tensorflow.profiler.XSpace")()
    idle.planes.add(name="Task Environment")
    write(folder / "idle.xplane.pb", idle)
    checks = examined(tmp_path)
    assert [one.about for one in checks] == ["logdir", "run", "run/idle"]
    assert "nothing was recorded" in checks[2].text


def test_one_run(sample_logdir):
    engine = Engine(Logdir(str(sample_logdir), wait_s=20))
    assert all("jax_cpu_training" in one.about for one in examine_run(engine, "jax_cpu_training"))
    assert examine_run(engine, "nope")[0].kind == "bad"


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "another profiler"),
        ("Could not load dynamic library 'libcupti.so.12'", "LD_LIBRARY_PATH"),
        ("CUPTI could not be used", "driver"),
        ("something else", ""),
    ],
)
def test_fixes(error, word):
    assert word in fix_for(error)
    assert bool(fix_for(error)) == bool(word)


def test_the_command(sample_logdir, tmp_path):
    good = run("doctor", sample_logdir)
    assert (good.exit_code, "✓ jax_cpu_training: steps" in good.stdout) == (0, True)
    bad = run("doctor", tmp_path, "127.0.0.1:1")
    assert bad.exit_code == 1
    assert "nothing listens on this port" in bad.stdout
    listed = run("doctor", "--json")
    assert listed.stdout.startswith("[")
    one = tmp_path / "host.xplane.pb"
    shutil.copy(next(sample_logdir.rglob("*.xplane.pb")), one)
    assert run("doctor", one).exit_code == 0


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("localhost", "has no port"),
        ("10.0.0.2", "has no port"),
        ("localhost:99999", "no valid port"),
        ("grpc://localhost", "has no port"),
        ("http://localhost:6006/", "not the address of a profiler server"),
        ("user:name@localhost:1", "contains a user name"),
        ("127.0.0.1:1,127.0.0.1:2", "127.0.0.1:2: tcp: nothing listens"),
    ],
)
def test_a_wrong_address_is_no_missing_folder(target, says):
    result = run("doctor", target)
    assert result.exit_code == 1
    assert says in result.stdout
    assert "logdir" not in result.stdout


def test_a_folder_may_look_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "localhost:1").mkdir()
    assert "searched localhost:1" in run("doctor", "localhost:1").stdout
