"""The package build's hook: builds pages, message descriptors and kernels."""

from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AssetsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `scripts/assets.py`, and for wheels and editable installs `scripts/extensions.py`."""

    def dependencies(self) -> list[str]:
        """The compilers that are needed: of `protos/`, of kernels, and of C where there is none."""
        root = Path(self.root)
        needed = (
            [] if _script(root, "assets").descriptors_are_fresh(root) else ["grpcio-tools>=1.62"]
        )
        if self.target_name == "wheel":
            extensions = _script(root, "extensions")
            if not extensions.are_fresh(root):
                needed += extensions.NEEDED
                if not extensions.has_compiler():
                    needed.append(extensions.COMPILER_PACKAGE)
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is out of date; a missing tool ends the build in one clear line."""
        root = Path(self.root)
        assets, extensions = _script(root, "assets"), _script(root, "extensions")
        try:
            assets.compile_descriptors(root)
            assets.build_frontend(root)
            if self.target_name == "wheel":
                extensions.build_extensions(root)
        except (assets.AssetsError, extensions.ExtensionsError) as error:
            self.app.abort(f"tbprof: {error}")
        if self.target_name == "wheel":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            # Those of this interpreter: others may lie beside them.
            build_data["artifacts"] += [
                f"/{path.relative_to(root).as_posix()}" for path in extensions.compiled(root)
            ]


def _script(root: Path, name: str) -> ModuleType:
    path = root / "scripts" / f"{name}.py"
    module = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), path, "exec"), module.__dict__)  # noqa: S102
    return module
