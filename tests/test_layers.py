"""The layers of docs/architecture.md, as the imports keep them."""

import ast
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helpers.commands import python_prints

PACKAGE = Path(__file__).parent.parent / "tbprof"
# `a: b` reads "a may import b"; a layer may import itself, and every layer the version.
LAYERS = {
    "_pb": "",
    "base": "",
    "kernels": "base",
    "events": "base kernels",
    "storage": "base",
    "xplane": "base events kernels",
    "analysis": "base events kernels _pb",
    "advice": "base events analysis",
    "tools": "base events analysis advice",
    "timeline": "base events kernels analysis _pb",
    "engine": "base storage kernels xplane events analysis advice tools timeline _pb",
    "capturing": "base storage _pb",
    "serving": "base storage engine capturing",
    "cli_capture": "base capturing",
    "cli_doctor": "base storage engine capturing",
    "cli_scheduler": "engine",
    "cli_precompute": "base storage engine tools cli_scheduler",
    "cli_serve": "base serving engine cli_scheduler",
    "cli": "base storage engine cli_scheduler cli_precompute cli_serve cli_capture cli_doctor",
    "api": "base storage engine tools",
}
FORBIDDEN = {"pkg_resources", "tensorflow", "grpc", "jax", "torch", "xprof"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@functools.cache
def is_layer(name: str) -> bool:
    return (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists()


class Names(NamedTuple):
    """Of a module: what it imports, anywhere in it, dotted; and its classes."""

    imports: set[str]
    classes: list[str]


@functools.cache
def names(path: Path) -> Names:
    module = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    found: set[str] = set()
    for node in statements(module):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return Names(found, classes)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Those in `node`, at every depth; expressions, which are most of a tree, hold none."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_modules_import_only_the_layers_below_them() -> None:
    wrong = []
    for path in modules():
        own = layer(path)
        allowed = {"api", "capturing"} if own == "__init__" else {own, *LAYERS[own].split()}
        for name in names(path).imports:
            top, _, rest = name.partition(".")
            below = rest.partition(".")[0]
            if top == "tbprof" and rest and below not in allowed and is_layer(below):
                wrong.append(f"{path.relative_to(PACKAGE)}: {own} may not import {name}")
    assert not wrong, "\n".join(wrong)


def test_modules_import_no_package_that_is_reserved_or_heavy() -> None:
    wrong = []
    for path in modules():
        forbidden = FORBIDDEN - ({"grpc"} if layer(path) == "capturing" else set())
        name = path.relative_to(PACKAGE).as_posix()
        if name != "serving/plugin.py":
            forbidden |= {"tensorboard"}
        found = {name.partition(".")[0] for name in names(path).imports} & forbidden
        wrong += [f"{name}: imports {package}" for package in found]
    assert not wrong, "\n".join(wrong)


def test_classes_have_names_of_their_own() -> None:
    homes: dict[str, list[str]] = {}
    for path in modules():
        for name in names(path).classes:
            homes.setdefault(name, []).append(path.relative_to(PACKAGE).as_posix())
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def loaded_by(statement: str) -> set[str]:
    script = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    return set(json.loads(python_prints("-c", script)))


def test_start_of_tensorboard_loads_nothing_heavy() -> None:
    """The budget is 100 ms; without these the plugin took 8 ms on top of TensorBoard's own."""
    before = loaded_by("import tensorboard.plugins.base_plugin, tensorboard.default")
    after = loaded_by(
        "import tensorboard.plugins.base_plugin, tensorboard.default\n"
        "from types import SimpleNamespace\n"
        "from tbprof.serving.plugin import ProfilePluginLoader\n"
        "loader = ProfilePluginLoader()\n"
        "import argparse\n"
        "loader.define_flags(argparse.ArgumentParser())\n"
        "context = SimpleNamespace(logdir='.', plugin_name_to_instance={})\n"
        "plugin = loader.load(context)\n"
        "plugin.get_plugin_apps(), plugin.is_active(), plugin.frontend_metadata()"
    )
    heavy = {"numpy", "grpc", "fsspec", "orjson", "google.protobuf", "tqdm"}
    assert not (after - before) & heavy


def test_package_is_light() -> None:
    loaded = loaded_by("import tbprof; tbprof.__version__")
    assert not {name for name in loaded if name.startswith("tbprof.")}


def test_export_loads_no_server() -> None:
    loaded = loaded_by("import tbprof.cli, tbprof.engine.engine, tbprof.storage.results")
    assert not loaded & {"werkzeug", "tensorboard", "tqdm", "grpc", "fsspec", "tbprof.serving"}
