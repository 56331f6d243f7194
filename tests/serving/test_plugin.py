"""The tab in a real TensorBoard process, over real HTTP."""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from helpers.patience import PATIENCE_S, until
from werkzeug.test import Client

from tbprof.serving import service
from tbprof.serving.plugin import ProfilePlugin, ProfilePluginLoader, name_owner

ROOT = Path(__file__).parents[2]
RUNS = ["tensorflow_input_bound", "tensorflow_cpu_training", "jax_cpu_training"]


def install(directory: Path, name: str, entry_points: str, module: str = "") -> None:
    """What pip leaves of a package, enough for its entry points to be found."""
    info = directory / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tensorboard_plugins]\n{entry_points}\n")
    if module:
        (directory / f"{name}.py").write_text(textwrap.dedent(module))


def install_tbprof(directory: Path) -> None:
    install(directory, "tbprof", "tbprof = tbprof.serving.plugin:ProfilePluginLoader")


RIVAL = """
    from tensorboard.plugins import base_plugin

    class Loader(base_plugin.TBLoader):
        def load(self, context):
            return Plugin(context)

    class Plugin(base_plugin.TBPlugin):
        plugin_name = "profile"
        def get_plugin_apps(self): return {}
        def is_active(self): return True
        def frontend_metadata(self): return base_plugin.FrontendMetadata(es_module_path="/x.js")
"""


class TensorBoard:
    """A running TensorBoard: its address and what it has written."""

    def __init__(self, process, url, log):
        self.process, self.url, self._log = process, url, log

    def log(self) -> str:
        return self._log.read_text()

    def get(self, path: str, **headers):
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as err:
            with err:
                return err.code, err.headers, err.read()

    def json(self, path: str):
        return json.loads(self.get(path)[2])

    def tabs(self) -> dict[str, bool]:
        return {p["tab_name"]: p["enabled"] for p in self.json("/data/plugins_listing").values()}


@contextmanager
def tensorboard(packages: Path, log: Path, *arguments: str):
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}"}
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--port", "0", *arguments],
            env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://[^:]+:(\d+)(\S*)/ ", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        url = f"http://localhost:{found[1]}{found[2]}"
        yield TensorBoard(process, url, log)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.mark.slow
def test_tab_is_active_and_serves_the_contract(tmp_path, sample_logdir):
    install_tbprof(tmp_path / "packages")
    with tensorboard(
        tmp_path / "packages", tmp_path / "log", "--logdir", str(sample_logdir),
        "--path_prefix", "/pre/fix",
    ) as running:  # fmt: skip
        listing = running.json("/data/plugins_listing")
        assert listing["profile"] == {
            "disable_reload": True,
            "enabled": True,
            "remove_dom": False,
            "tab_name": "Profile",
            "loading_mechanism": {
                "type": "IFRAME",
                "module_path": "/pre/fix/data/plugin/profile/index.js",
            },
        }
        assert [tab for tab in running.tabs() if "Profile" in tab] == ["Profile"]
        base = "/data/plugin/profile"
        assert running.json(f"{base}/runs") == RUNS
        assert running.json(f"/experiment/x{base}/runs") == running.json(f"{base}/runs")
        query = "run=jax_cpu_training&tag=framework_op_stats"
        status, headers, body = running.get(f"{base}/data?{query}")
        assert status == 200
        assert json.loads(body)[0]["rows"]
        assert running.get(f"{base}/data?{query}", **{"If-None-Match": headers["ETag"]})[0] == 304
        index = running.json(f"{base}/timeline?run=jax_cpu_training")
        span = f"version={index['version']}&level={index['max_level']}&from=0&to=1"
        status, headers, body = running.get(
            f"{base}/timeline_tiles?run=jax_cpu_training&{span}", **{"Accept-Encoding": "gzip"}
        )
        assert (status, gzip.decompress(body)[:4]) == (200, b"TBT1")
        assert headers["Cache-Control"] == "private, max-age=31536000, immutable"
        for path, code in (
            ("nope", "not_found"),
            ("assets/nope.js", "not_found"),
            ("assets/../x", "not_found"),
            ("data?run=x&tag=y", "run_not_found"),
        ):
            status, _, body = running.get(f"{base}/{path}")
            assert (status, json.loads(body)["error"]["code"]) == (404, code)
        for page in ("index.html", "index.js"):
            assert running.get(f"{base}/{page}")[0] == 200
        # Its validator of security headers complains in the log.
        assert "In 3.0, this warning will become an error" not in running.log()
        assert "Traceback" not in running.log()


@pytest.mark.slow
def test_another_profile_plugin_keeps_its_name(tmp_path, sample_logdir):
    install_tbprof(tmp_path / "packages")
    install(tmp_path / "packages", "xprof", "profile = xprof:Loader", RIVAL)
    with tensorboard(
        tmp_path / "packages", tmp_path / "log", "--logdir", str(sample_logdir)
    ) as running:
        listing = running.json("/data/plugins_listing")
        assert listing["tbprof"]["tab_name"] == "Profile (tbprof)"
        assert listing["tbprof"]["enabled"] is True
        assert listing["profile"]["loading_mechanism"]["module_path"].endswith("/x.js")
        assert running.json("/data/plugin/tbprof/config")["pluginName"] == "tbprof"
        assert running.get("/data/plugin/tbprof/index.html")[0] == 200
        assert "xprof already provides" in running.log()


@pytest.mark.slow
def test_tab_waits_in_the_menu_where_other_dashboards_have_data(tmp_path):
    install_tbprof(tmp_path / "packages")
    (tmp_path / "logdir").mkdir()
    (tmp_path / "logdir/events.out.tfevents.1.host").touch()
    with tensorboard(
        tmp_path / "packages", tmp_path / "log", "--logdir", str(tmp_path / "logdir")
    ) as running:
        assert running.tabs()["Profile"] is False
        run = tmp_path / "logdir/plugins/profile/r"
        run.mkdir(parents=True)
        (run / "h.xplane.pb").write_bytes(b"")
        until(lambda: running.tabs()["Profile"], every_s=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("--logdir_spec", "a:{0}/a,b:{0}/b"), ("--logdir", "a:{0}/a,b:{0}/b")]
)
def test_lists_of_logdirs_do_no_harm(tmp_path, arguments):
    install_tbprof(tmp_path / "packages")
    flag, value = arguments
    with tensorboard(
        tmp_path / "packages", tmp_path / "log", flag, value.format(tmp_path)
    ) as running:
        assert "Profile" in running.tabs()
        assert running.json("/data/plugin/profile/runs") == []
        assert "Traceback" not in running.log()


def context(**fields):
    return SimpleNamespace(**{"logdir": "", "plugin_name_to_instance": {}, **fields})


def test_tab_is_active_where_nothing_else_could_be_shown(tmp_path):
    for logdir in ("", None, str(tmp_path), str(tmp_path / "missing")):
        until(ProfilePlugin(context(logdir=logdir)).is_active)
    (tmp_path / "events.out.tfevents.1").touch()
    plugin = ProfilePlugin(context(logdir=str(tmp_path)))
    until(lambda: plugin._service.logdir().report().directories)
    assert not plugin.is_active()


def test_tab_is_there_when_tbprof_cannot_be_loaded(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "tbprof.storage.logdir", None)
    plugin = ProfilePlugin(context(logdir="x"))
    assert plugin.is_active()
    assert "could not be loaded" in caplog.text


@pytest.mark.parametrize(("arguments", "is_off"), [([], False), (["--tbprof_no_capture"], True)])
def test_a_flag_turns_captures_off(tmp_path, arguments, is_off):
    parser = argparse.ArgumentParser()
    ProfilePluginLoader().define_flags(parser)
    flags = parser.parse_args(arguments)
    plugin = ProfilePlugin(SimpleNamespace(logdir=str(tmp_path), flags=flags))
    client = Client(plugin.get_plugin_apps()["/config"])
    config = client.get("/data/plugin/profile/config").get_json()
    assert (config["capture"]["off"] != "", config["capture"]["token"] == "") == (is_off, is_off)
    posted = client.post(
        "/data/plugin/profile/capture",
        json={"addresses": "localhost"},
        headers={"X-Tbprof-Token": config["capture"]["token"]},
    )
    assert posted.status_code == (403 if is_off else 400)


@pytest.mark.parametrize(("arguments", "number"), [([], None), (["--tbprof_processes", "3"], 3)])
def test_a_flag_chooses_how_many_processes_read_traces(tmp_path, monkeypatch, arguments, number):
    asked = []
    monkeypatch.setattr(service, "_make_engine", lambda _, processes: asked.append(processes))
    parser = argparse.ArgumentParser()
    ProfilePluginLoader().define_flags(parser)
    flags = parser.parse_args(arguments)
    plugin = ProfilePlugin(SimpleNamespace(logdir=str(tmp_path), flags=flags))
    plugin._service.engine()
    assert asked == [number]


def test_routes_fit_tensorboard():
    routes = ProfilePlugin(context()).get_plugin_apps()
    assert all(re.fullmatch(r"/([a-z_.]+|\*)", route) for route in routes)
    assert {"/runs", "/data", "/index.js", "/index.html", "/*"} <= set(routes)


@pytest.mark.parametrize(
    ("name", "entry_points", "owner"),
    [
        ("xprof", "profile = xprof.profile_plugin_loader:ProfilePluginLoader", "xprof"),
        ("tb_nightly_profile", "profile = whatever:Loader", "tb_nightly_profile"),
        ("renamed", "x = tensorboard_plugin_profile.loader:Loader", "renamed"),
        ("projector", "projector = tensorboard.plugins.projector:Plugin", None),
    ],
)
def test_owner_of_the_name_is_found_without_importing(
    tmp_path, monkeypatch, name, entry_points, owner
):
    if name_owner({}) is not None:
        pytest.skip("another profile plugin is installed here")
    install_tbprof(tmp_path)
    install(tmp_path, name, entry_points)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    assert name_owner({}) == owner
    assert name not in set(sys.modules) - before


def test_loaded_plugin_of_the_name_counts_too():
    class Other:
        pass

    assert name_owner({"profile": Other()}) is not None
    assert ProfilePluginLoader().load(
        context(plugin_name_to_instance={"profile": Other()})
    ).plugin_name == "tbprof"  # fmt: skip


def test_finding_the_owner_takes_one_look_at_the_entry_points(monkeypatch):
    look = Mock(wraps=metadata.entry_points)
    monkeypatch.setattr(metadata, "entry_points", look)
    name_owner({})
    look.assert_called_once_with(group="tensorboard_plugins")
