"""The Profile tab of TensorBoard. The only module that imports TensorBoard.

When the tab is active: TensorBoard opens the first active plugin of its list, and installed plugins
come after its own, so a logdir with scalars opens on the scalars in any case. Its own plugins are
inactive until their first data is read, though, which (measured with TensorBoard 2.21) is before
its server answers at all. So the tab is active if there is a profile, and also if a search found
nothing that any dashboard could show: then our page says what was searched and where, which
TensorBoard's own empty page does not. In a logdir with only event files the tab is in the menu of
inactive plugins, like every plugin without data, and opens from there.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from tensorboard.plugins import base_plugin

from tbprof.base.errors import LoadFailed
from tbprof.serving.host_names import HostNames
from tbprof.serving.routes.routes import ROUTES, Application
from tbprof.serving.service import ALLOW_HOST, Service

logger = logging.getLogger(__name__)

_GROUP = "tensorboard_plugins"
_NAME = "profile"
_OWN_NAME = "tbprof"
_NO_CAPTURE = "tbprof_no_capture"
_PROCESSES = "tbprof_processes"
_ALLOW_HOST = "tbprof_allow_host"
# Packages whose plugin is called "profile", whatever their entry point is called.
_RIVALS = frozenset({"xprof", "tensorboard_plugin_profile"})


class ProfilePluginLoader(base_plugin.TBLoader):  # type: ignore[misc] # TensorBoard is untyped
    """The object of the entry point: makes the plugin when TensorBoard starts."""

    def define_flags(self, parser: Any) -> None:
        """Adds our flags; the only call before any plugin is loaded."""
        _hide_redirect()
        group = parser.add_argument_group("tbprof")
        group.add_argument(
            f"--{_NO_CAPTURE}",
            action="store_true",
            help="show profiles, but do not allow captures from the Profile tab",
        )
        group.add_argument(
            f"--{_ALLOW_HOST}",
            metavar="NAME",
            action="append",
            default=[],
            help="allow captures from pages that are opened under this name, as behind a proxy; "
            "may be repeated, * allows any",
        )

        group.add_argument(
            f"--{_PROCESSES}",
            metavar="N",
            type=int,
            help="how many processes read profiles; 0 reads them in TensorBoard itself, without "
            "limits of memory and time; default: as many as there are processors, at most 4",
        )

    def load(self, context: Any) -> ProfilePlugin:
        """The plugin. `context.logdir` is empty under `--logdir_spec`: then there are no runs."""
        owner = name_owner(context.plugin_name_to_instance or {})
        if owner is not None:
            logger.warning(
                "%s already provides the TensorBoard plugin %r; tbprof is the tab 'Profile "
                "(tbprof)', with its routes below data/plugin/%s/",
                owner, _NAME, _OWN_NAME,
            )  # fmt: skip
        return ProfilePlugin(context, _NAME if owner is None else _OWN_NAME)


class ProfilePlugin(base_plugin.TBPlugin):  # type: ignore[misc] # TensorBoard is untyped
    """The routes and the tab."""

    plugin_name = _NAME

    def __init__(self, context: Any, name: str = _NAME) -> None:
        self.plugin_name = name
        flags = getattr(context, "flags", None)
        is_off = bool(getattr(flags, _NO_CAPTURE, False))
        self._service = Service(
            context.logdir or "",
            name,
            can_capture=not is_off,
            names=_host_names(flags),
            processes=getattr(flags, _PROCESSES, None),
        )
        self._application = Application(self._service)
        self.is_active()  # starts the search, so that the first listing is correct

    def get_plugin_apps(self) -> dict[str, Application]:
        """Every route, and a wildcard, so that unknown ones also get our error format."""
        names = [*ROUTES, "index.html", "index.js", "*"]
        return {f"/{name}": self._application for name in names}

    def is_active(self) -> bool:
        """Whether the tab is active, see the module; never waits."""
        try:
            logdir = self._service.logdir()
        except LoadFailed:
            return True  # the page shows why
        return logdir.is_active() or logdir.is_bare()

    def frontend_metadata(self) -> Any:
        """The tab: a page of its own in a frame, not reloaded with the other dashboards."""
        is_own = self.plugin_name == _OWN_NAME
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js",
            tab_name="Profile (tbprof)" if is_own else "Profile",
            disable_reload=True,
        )


def _host_names(flags: Any) -> HostNames:
    """What TensorBoard was started for: `--host`, or every address with `--bind_all`."""
    names = [*getattr(flags, _ALLOW_HOST, []), *os.environ.get(ALLOW_HOST, "").split(",")]
    host = "::" if getattr(flags, "bind_all", False) else getattr(flags, "host", None)
    return HostNames([name for name in (*names, host) if name])


def name_owner(loaded: Mapping[str, object]) -> str | None:
    """The installed package whose TensorBoard plugin is called "profile", if there is one.

    TensorBoard ends with an error when two plugins share a name. `loaded` are the plugins before
    ours; those after it are known only by their entry points, which are read, not imported.
    """
    for entry_point in metadata.entry_points(group=_GROUP):
        module = entry_point.value.partition(":")[0].partition(".")[0]
        if module == "tbprof":
            continue
        if entry_point.name == _NAME or module in _RIVALS:
            distribution = entry_point.dist
            return distribution.name if distribution is not None else module
    return type(loaded[_NAME]).__module__ if _NAME in loaded else None


def _hide_redirect() -> None:
    """Removes TensorBoard's own inactive "Profile" tab, which asks users to install a plugin.

    Its built-in `profile_redirect` only disappears for the package `tensorboard_plugin_profile`,
    which it tries to import. There is no other way to disable it, so its loader is changed here.
    """
    try:
        from tensorboard.plugins.profile_redirect import profile_redirect_plugin
    except ImportError:  # TensorBoard no longer has it
        return
    profile_redirect_plugin.ProfileRedirectPluginLoader.load = lambda _self, _context: None
