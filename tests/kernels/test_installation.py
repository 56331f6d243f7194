"""Compiled modules that are missing or older than their sources: one clear sentence."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import extensions
import pytest
from helpers.commands import python_prints

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
    return copy / extensions.KERNELS / "analysis" / "event_nesting.py"


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


def sentence(said: subprocess.CompletedProcess[str]) -> str:
    """What a command that failed says: one line, and a hint."""
    assert said.returncode == 1, said
    [line, hint] = said.stderr.splitlines()
    assert hint.startswith("hint: ")
    return line


def test_modules_of_another_python_are_none(copy: Path) -> None:
    for path in extensions.compiled(copy):
        path.rename(path.with_name(f"{path.name.split('.')[0]}.cpython-39-x86_64-linux-gnu.so"))
    assert "has no compiled modules for Python 3" in sentence(ask(copy))


def test_a_single_module_that_is_missing_is_named(copy: Path) -> None:
    (copy / extensions.KERNELS / "analysis" / f"event_nesting{extensions._SUFFIX}").unlink()
    assert "lacks analysis/event_nesting for Python 3" in sentence(ask(copy))


@pytest.mark.parametrize("kept", [0, 20, 0.5])
def test_a_module_that_is_cut_off_is_named(kept: float, copy: Path) -> None:
    path = copy / extensions.KERNELS / "analysis" / f"event_nesting{extensions._SUFFIX}"
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    assert sentence(ask(copy)).endswith(f"{path} is cut off")


def test_a_checkout_compiles_a_module_that_is_cut_off_again(copy: Path) -> None:
    (copy / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "extensions.py", copy / "scripts")
    path = copy / extensions.KERNELS / "analysis" / f"event_nesting{extensions._SUFFIX}"
    path.write_bytes(path.read_bytes()[:5000])
    assert "compiling tbprof/kernels/ needs cython" in sentence(ask(copy, NO_CYTHON))
    assert not path.exists()


def test_modules_that_cannot_be_loaded_are_one_sentence(copy: Path) -> None:
    path = copy / extensions.KERNELS / f"_shared{extensions._SUFFIX}"
    path.write_bytes(b"of another machine")
    assert "the compiled modules of tbprof cannot be loaded: " in sentence(ask(copy))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere compilers choose")
def test_a_processor_that_is_too_old_is_one_sentence(copy: Path) -> None:
    lacks = "import numpy._core._multiarray_umath as m; m.__cpu_features__ |= {'SSE2': True, "
    said = ask(copy, f"import sys\n{lacks}'SSE42': False, 'POPCNT': False}}\n")
    assert "this processor lacks SSE42, POPCNT, which tbprof is compiled for" in sentence(said)


def test_a_processor_that_numpy_refuses_is_one_sentence(copy: Path) -> None:
    (copy / "numpy.py").write_text(
        "raise RuntimeError('NumPy was built with baseline optimizations:\\n(X86_V2)')\n"
    )
    assert "NumPy was built with baseline optimizations: (X86_V2)" in sentence(ask(copy))


def test_a_plugin_says_the_same_sentence(copy: Path) -> None:
    path = copy / extensions.KERNELS / "analysis" / f"event_nesting{extensions._SUFFIX}"
    path.write_bytes(path.read_bytes()[:5000])
    serve = (
        "from tbprof.base.errors import LoadFailed\nfrom tbprof.serving.service import Service\n"
        "try:\n    Service(sys.argv[1]).engine()\n"
        "except LoadFailed as failed:\n    print(failed.message, '/', failed.hint)\n"
    )
    said = ask(copy, f"import sys\n{serve}sys.exit()\n")
    assert said.stdout.startswith(f"this installation of tbprof is damaged: {path} is cut off / ")
    assert said.stdout.endswith("; then start the server again\n")
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
        assert os.environ["CC"] == f"{sys.executable} -m ziglang cc -mcpu=baseline"
        return
    with pytest.raises(extensions.ExtensionsError, match="needs a C compiler, and none was found"):
        extensions.find_compiler()


def asked(checkout: Path) -> str:
    """The answer of its kernel."""
    code = "from tbprof.kernels.tiny import answer; print(answer())"
    return python_prints("-c", code, cwd=checkout, PYTHONPATH=str(checkout)).strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A checkout with one kernel, which need not be fast, compiled."""
    checkout = tmp_path_factory.mktemp("built")
    folder = checkout / extensions.KERNELS
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "codes.py").write_text("ANSWER = 42\n")
    (folder / "tiny.py").write_text(
        "import cython\nfrom cython.cimports.tbprof.kernels.codes import ANSWER\n\n"
        "def answer() -> cython.longlong:\n    return ANSWER\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TBPROF_KERNELS_FLAGS", "-O0")
        assert extensions.build_extensions(checkout) is True
        yield checkout


@pytest.fixture
def tiny(built: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(built, tmp_path / "tiny"))


def change(tiny: Path, text: str) -> None:
    source = tiny / extensions.KERNELS / "tiny.py"
    source.write_text(source.read_text() + text)
    # Cython remembers how old the source was when this process first saw it.
    [translated] = (tiny / extensions.BUILD).rglob("tiny.c")
    translated.unlink()


def test_kernels_are_compiled_once(built: Path) -> None:
    assert extensions.build_extensions(built) is False
    assert asked(built) == "42"


def test_a_kernel_that_changes_is_compiled_alone(tiny: Path) -> None:
    [shared, _] = extensions.compiled(tiny)
    before = shared.stat().st_mtime_ns
    change(tiny, "\n\ndef answer() -> cython.longlong:\n    return ANSWER + 1\n")
    assert extensions.build_extensions(tiny) is True
    assert shared.stat().st_mtime_ns == before
    assert asked(tiny) == "43"


def test_a_compiler_that_fails_is_one_sentence(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(tiny, "# changed\n")
    monkeypatch.setenv("CC", "false")
    with pytest.raises(extensions.ExtensionsError, match="could not be compiled"):
        extensions.build_extensions(tiny)
    assert not extensions.are_fresh(tiny)


def test_a_kernel_that_cython_refuses_is_one_sentence(tiny: Path) -> None:
    change(tiny, "def answer(:\n")
    with pytest.raises(extensions.ExtensionsError, match=r"could not be compiled.*tiny"):
        extensions.build_extensions(tiny)
