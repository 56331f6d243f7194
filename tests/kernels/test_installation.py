"""Compiled modules that are missing or older than their sources: one clear sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import extensions
import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_CYTHON = "import sys; sys.modules['Cython'] = None\n"
LIST = "from tbprof.cli import run; sys.argv = ['tbprof', 'tools', sys.argv[1]]; run()"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package as it is installed: without the scripts of a checkout."""
    ignored = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(ROOT / "tbprof", tmp_path / "tbprof", ignore=ignored)
    return tmp_path


def ask(copy: Path, before: str = "import sys\n") -> subprocess.CompletedProcess[str]:
    logdir = ROOT / "examples" / "logdir"
    return subprocess.run(
        [sys.executable, "-c", before + LIST, str(logdir)],
        capture_output=True, text=True, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
    )  # fmt: skip


def kernel(copy: Path) -> Path:
    return copy / extensions.KERNELS / "nesting.py"


def test_an_installation_needs_no_compiler(copy: Path) -> None:
    os.utime(kernel(copy))  # no checkout: nothing compares times
    assert ask(copy, NO_CYTHON).returncode == 0


def test_missing_modules_are_one_sentence(copy: Path) -> None:
    for path in extensions.compiled(copy):
        path.unlink()
    said = ask(copy)
    assert said.returncode == 1
    assert said.stderr.startswith("tbprof: this installation of tbprof has no compiled modules for")
    assert "hint: pip install --force-reinstall tbprof" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_checkout_that_cannot_compile_what_changed_says_what_to_do(copy: Path) -> None:
    (copy / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "extensions.py", copy / "scripts")
    kernel(copy).write_text(kernel(copy).read_text() + "# changed\n")
    said = ask(copy, NO_CYTHON)
    assert said.returncode == 1
    assert "do not fit its sources: compiling tbprof/kernels/ needs cython" in said.stderr
    assert "hint: make run, or: " in said.stderr
    assert "Traceback" not in said.stderr


def test_sources_that_are_newer_and_the_same_are_not_compiled_again(copy: Path) -> None:
    (copy / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "extensions.py", copy / "scripts")
    os.utime(kernel(copy))
    assert ask(copy, NO_CYTHON).returncode == 0
    stamp = next((copy / extensions.KERNELS).glob(".inputs*"))
    assert stamp.stat().st_mtime_ns >= kernel(copy).stat().st_mtime_ns


def test_constants_of_kernels_are_those_of_python(tmp_path: Path) -> None:
    source = tmp_path / "codes.py"
    source.write_text("A = 3\nLEAST = -(2**63)\nHALF = 0.5\n_HIDDEN = 1\n")
    extensions._write_codes(source, tmp_path / "codes.pxd")
    text = (tmp_path / "codes.pxd").read_text()
    assert "#define tbprof_A (3LL)" in text
    assert "#define tbprof_LEAST (-9223372036854775807LL - 1)" in text
    assert 'const double HALF "tbprof_HALF"' in text


@pytest.mark.parametrize("has_zig", [False, True])
def test_without_a_compiler_that_of_a_package_is_taken(
    has_zig: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", "cc")
    monkeypatch.setenv("LDSHARED", "cc -shared")
    monkeypatch.setitem(sys.modules, "ziglang", sys if has_zig else None)
    assert not extensions.has_compiler()
    if has_zig:
        extensions.find_compiler()
        assert os.environ["CC"] == f"{sys.executable} -m ziglang cc"
        return
    with pytest.raises(extensions.ExtensionsError, match="needs a C compiler, and none was found"):
        extensions.find_compiler()
