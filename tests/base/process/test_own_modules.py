"""Modules of the package are found as Python finds them, in less time."""

import os
import py_compile
from importlib.machinery import ModuleSpec, PathFinder, SourcelessFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import pytest
from helpers.commands import python_prints

from tbprof.base.process.own_modules import _OwnModules

ROOT = Path(__file__).resolve().parents[3]
FACTS = ("name", "origin", "cached", "has_location", "submodule_search_locations", "parent")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "steps.py"
    path.write_text("count = 3\n")
    py_compile.compile(str(path), doraise=True)
    return path


def found(name: str, folder: Path) -> ModuleSpec | None:
    return _OwnModules.find_spec(name, [str(folder)])


def loaded(spec: ModuleSpec | None) -> ModuleType:
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_module_is_found_as_python_finds_it(source: Path) -> None:
    spec = found("tbprof.steps", source.parent)
    usual = PathFinder.find_spec("tbprof.steps", [str(source.parent)])
    assert [getattr(spec, fact) for fact in FACTS] == [getattr(usual, fact) for fact in FACTS]
    module = loaded(spec)
    assert module.count == 3
    assert module.__file__ == str(source)
    assert isinstance(module.__loader__, SourcelessFileLoader)
    assert module.__loader__.get_data(str(source)) == source.read_bytes()


def test_a_package_is_found_as_python_finds_it(tmp_path: Path) -> None:
    path = tmp_path / "steps" / "__init__.py"
    path.parent.mkdir()
    path.write_text("count = 4\n")
    py_compile.compile(str(path), doraise=True)
    spec = found("tbprof.steps", tmp_path)
    usual = PathFinder.find_spec("tbprof.steps", [str(tmp_path)])
    assert [getattr(spec, fact) for fact in FACTS] == [getattr(usual, fact) for fact in FACTS]
    assert loaded(spec).count == 4


def test_python_searches_for_a_module_that_is_not_compiled(source: Path) -> None:
    folder = source.parent
    assert found("tbprof.absent", folder) is None
    source.write_text("count = 30\n")
    assert found("tbprof.steps", folder) is None
    py_compile.compile(str(source), doraise=True)
    assert loaded(found("tbprof.steps", folder)).count == 30
    os.utime(source, (1, 1))
    assert found("tbprof.steps", folder) is None
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(source), doraise=True, invalidation_mode=mode)
    assert found("tbprof.steps", folder) is None
    compiled = py_compile.compile(str(source), doraise=True)
    assert compiled is not None
    Path(compiled).write_bytes(b"")
    assert found("tbprof.steps", folder) is None


def test_extensions_and_modules_of_others_are_left_to_python(source: Path) -> None:
    assert found("tbprof.kernels.steps", source.parent) is None
    assert found("other.steps", source.parent) is None
    assert _OwnModules.find_spec("tbprof.steps", None) is None


def test_a_command_finds_its_modules_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import tbprof.cli as cli\n"
        "def main():\n"
        "    import tbprof.engine.engine as engine, tbprof.kernels.analysis.row_groups as kernel\n"
        "    print(type(engine.__loader__).__module__)\n"
        "    print(engine.__file__)\n"
        "    print(kernel.__file__)\n"
        "cli.main = main\n"
        "cli.run()\n"
    )
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    said = ""
    for _ in range(2):  # the first one compiles, if need be
        said = python_prints("-c", code)
    loader, file, kernel = said.splitlines()
    assert loader == "tbprof.base.process.own_modules"
    assert file == str(ROOT / "tbprof" / "engine" / "engine.py")
    assert not kernel.endswith(".py")
