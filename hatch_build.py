"""The package build's hook: pages and message descriptors are built before files are collected."""

from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AssetsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `scripts/assets.py` for wheels, editable installs and source distributions."""

    def dependencies(self) -> list[str]:
        """The compiler of `protos/`, where they are not compiled yet."""
        fresh = _assets(self.root).descriptors_are_fresh(Path(self.root))
        return [] if fresh else ["grpcio-tools>=1.62"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is out of date; a missing tool ends the build in one clear line."""
        assets, root = _assets(self.root), Path(self.root)
        try:
            assets.compile_descriptors(root)
            assets.build_frontend(root)
        except assets.AssetsError as error:
            self.app.abort(f"tbprof: {error}")


def _assets(root: str) -> ModuleType:
    path = Path(root, "scripts/assets.py")
    module = ModuleType("assets")
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), path, "exec"), module.__dict__)  # noqa: S102
    return module
