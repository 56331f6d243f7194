"""What is built, when, and what ends up in a wheel and in a source distribution."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import assets
import extensions
import pytest

import tbprof

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE = 1 << 20


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The package with a page of one line that is up to date: no Node is needed."""
    root = tmp_path / "tbprof"
    for name in ("tbprof", "protos", "scripts"):
        ignored = shutil.ignore_patterns("__pycache__", "static")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in ("pyproject.toml", "hatch_build.py", "LICENSE", "README.md", ".gitignore"):
        shutil.copy(ROOT / name, root / name)
    write(root / "frontend/package.json", "{}")
    write(root / "frontend/package-lock.json", "{}")
    write(root / "frontend/src/main.ts", "export const answer = 42;\n")
    write(root / "tbprof/static/index.html", "<p>pages")
    write(root / "tbprof/static/assets/main.js", "42")
    write(root / "tbprof/static/assets/main.js.map", "{}")
    write(root / "tbprof/static/.inputs", assets.frontend_hash(root))
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(root: Path, target: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **env},
    )


def test_pages_follow_their_sources_alone(checkout: Path) -> None:
    assert assets.frontend_is_fresh(checkout)
    write(checkout / "frontend/src/main.test.ts", "test")
    write(checkout / "frontend/node_modules/preact/index.js", "module")
    write(checkout / "frontend/README.md", "prose")
    assert assets.frontend_is_fresh(checkout)
    write(checkout / "frontend/src/main.ts", "export const answer = 43;\n")
    assert not assets.frontend_is_fresh(checkout)


def test_line_ends_do_not_make_pages_stale(checkout: Path) -> None:
    (checkout / "frontend/src/main.ts").write_bytes(b"export const answer = 42;\r\n")
    assert assets.frontend_is_fresh(checkout)


def test_descriptors_follow_the_protos(checkout: Path) -> None:
    assert assets.descriptors_are_fresh(checkout)
    assert assets.compile_descriptors(checkout) is False
    write(checkout / "protos/new.proto", 'syntax = "proto3";\npackage extra;\nmessage M {}\n')
    assert assets.compile_descriptors(checkout) is True
    assert b"extra" in (checkout / "tbprof/_pb/descriptors.pb").read_bytes()


@pytest.mark.parametrize(
    ("version", "said"), [(None, "node was not found"), ("v18.20.4", "is v18.20.4")]
)
def test_a_missing_node_is_named(
    version: str | None, said: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    if version is not None:
        write(programs / "node", f"#!/bin/sh\necho {version}\n")
        (programs / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}")
    write(checkout / "frontend/src/main.ts", "changed")
    with pytest.raises(assets.AssetsError, match=rf"{said}.*Node 20 or newer"):
        assets.build_frontend(checkout)
    monkeypatch.setenv("TBPROF_SKIP_FRONTEND", "1")
    assert assets.build_frontend(checkout) is False


def test_packages_for_tests_are_installed_where_tests_run(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    for program in ("node", "npm"):
        write(
            tmp_path / "bin" / program,
            f'#!/bin/sh\n[ {program} = node ] && echo v20.0.0 || echo "$@" >> {calls}\n',
        )
        (tmp_path / "bin" / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (checkout / "frontend/node_modules").mkdir()
    steps = [False, False, True, True, False]
    assert [assets.install_modules(checkout, for_tests=tests) for tests in steps] == [
        True, False, True, False, False,
    ]  # fmt: skip
    [for_pages, for_tests] = calls.read_text().splitlines()
    assert for_pages == f"{for_tests} --omit=dev"


@pytest.mark.slow
def test_a_wheel_is_of_this_python_and_holds_what_was_built(checkout: Path) -> None:
    (checkout / "tbprof/kernels/xplane/fields.cpython-39-x86_64-linux-gnu.so").write_text(
        "another's"
    )
    result = build(checkout, "wheel")
    assert result.returncode == 0, result.stderr
    [wheel] = (checkout / "dist").glob("*.whl")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"tbprof-{tbprof.__version__}-{tag}-{tag}-")
    assert wheel.stat().st_size < 5 * MEGABYTE
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "tbprof/_pb/descriptors.pb",
        "tbprof/py.typed",
        "tbprof/static/assets/main.js",
        "tbprof/static/index.html",
    } <= names
    kernels = {name for name in names if "/kernels/" in name and not name.endswith(".py")}
    assert kernels == {
        path.relative_to(checkout).as_posix() for path in extensions.compiled(checkout)
    }
    sources = {Path(name) for name in names if name.startswith("tbprof/kernels/")}
    assert {path.name for path in sources if path.suffix == ".py"} == {"__init__.py", "codes.py"}
    left_out = (".map", ".inputs", ".proto", ".pxd", ".pyc")
    assert not [name for name in names if name.endswith(left_out)]
    assert not [name for name in names if not name.startswith("tbprof")]


@pytest.mark.slow
def test_a_source_distribution_builds_without_node(checkout: Path, tmp_path: Path) -> None:
    assert build(checkout, "sdist").returncode == 0
    [archive] = (checkout / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        # Python 3.10 and 3.11 have the filter from a patch release on
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(tmp_path / "unpacked", **safe)
    [root] = (tmp_path / "unpacked").iterdir()
    assert (root / "frontend/src/main.ts").exists()
    assert extensions.sources_hash(root) == extensions.sources_hash(ROOT)
    for path in extensions.modules(root):  # one of them shows that they are compiled
        if path.stem != "line_fits":
            path.unlink()
    compilers = tmp_path / "compilers"
    compilers.mkdir()
    for name in ("cc", "gcc", "clang", "as", "ld"):
        if found := shutil.which(name):
            (compilers / name).symlink_to(found)
    result = build(root, "wheel", PATH=str(compilers), TBPROF_KERNELS_FLAGS="-O0")
    assert result.returncode == 0, result.stderr
    [wheel] = (root / "dist").glob("*.whl")
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    assert {path.name for path in extensions.compiled(root)} <= names


@pytest.mark.slow
def test_a_build_without_node_ends_in_one_line(checkout: Path, tmp_path: Path) -> None:
    write(checkout / "frontend/src/main.ts", "changed")
    no_programs = tmp_path / "none"
    no_programs.mkdir()
    result = build(checkout, "wheel", PATH=str(no_programs))
    assert result.returncode == 1
    assert "Node 20 or newer" in result.stderr
    assert "Traceback" not in result.stderr
