"""What must not be written down: the page's token, access tokens, passwords in addresses.

Every logger is at its most talkative, in the servers of `tbprof serve` and of TensorBoard; what
they wrote anywhere is searched.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.patience import PATIENCE_S
from helpers.started.google_cloud import ACCESS_TOKEN, NODES, node, serving_google
from helpers.started.profilers import Profiler, recorded, serving, trace

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "hunter2-secret"
# Libraries set levels of their own, so each is told; what is below them follows.
TALKATIVE = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
NAMES = ("waitress", "werkzeug", "tensorboard", "tbprof", "grpc", "h2", "hpack", "urllib3")
NAMES += ("google", "absl")
for name in NAMES:
    logging.getLogger(name).setLevel(logging.DEBUG)
logging.getLogger("google").addHandler(logging.StreamHandler())
"""
STANDALONE = """
from tbprof.cli import main
main(["serve", sys.argv[1], "--port", "0"])
"""
TENSORBOARD = """
from tensorboard import default, program
from tbprof.serving.plugin import ProfilePluginLoader
board = program.TensorBoard([*default.get_static_plugins(), ProfilePluginLoader])
board.configure(["tensorboard", "--logdir", sys.argv[1], "--port", "0"])
board.main()
"""


class Server:
    """A running server, as its own page talks to it."""

    def __init__(self, url: str, written: Path) -> None:
        self.url = f"{url}/data/plugin/profile"
        self.written = written
        self.token = self.get("config")["capture"]["token"]

    def get(self, path: str):
        with urllib.request.urlopen(f"{self.url}/{path}", timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def post(self, route: str, values: object, token: str = ""):
        headers = {"X-Tbprof-Token": token or self.token, "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.url}/{route}", json.dumps(values).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def captured(self, addresses: str):
        """How a capture of `addresses` ends."""
        status, standing = self.post("capture", {"addresses": addresses, "duration_ms": 20})
        assert status == 202
        while standing["state"] in ("waiting", "running"):
            time.sleep(0.05)
            standing = self.get(f"captures?id={standing['id']}")
        return standing


@contextmanager
def running(program: str, folder: Path, environment: dict[str, str]) -> Iterator[Server]:
    for name in ("logs", "tmp", "cache"):
        (folder / name).mkdir()
    written = folder / "written"
    places = {"TMPDIR": str(folder / "tmp"), "TBPROF_CACHE_DIR": str(folder / "cache")}
    talk = {"GRPC_VERBOSITY": "DEBUG", "GRPC_TRACE": "http,call_error", "PYTHONPATH": str(ROOT)}
    with written.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", TALKATIVE + program, str(folder / "logs")],
            stdout=output, stderr=subprocess.STDOUT,
            env={**os.environ, **environment, **places, **talk},
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://[^:/ ]+:(\d+)/", written.read_text("utf-8"))):
            assert process.poll() is None, written.read_text("utf-8")
            assert time.monotonic() < deadline, written.read_text("utf-8")
            time.sleep(0.05)
        yield Server(f"http://localhost:{found[1]}", written)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.mark.slow
@pytest.mark.parametrize("program", [STANDALONE, TENSORBOARD], ids=["standalone", "tensorboard"])
def test_secrets_are_written_nowhere(program, tmp_path):
    profiler = Profiler([recorded(trace())])
    with serving_google() as google, serving(profiler):
        google.nodes[f"{NODES}my-tpu"] = node("READY", "127.0.0.1")
        google.nodes[f"{NODES}broken"] = {"networkEndpoints": [{}]}
        with running(program, tmp_path, google.environment) as server:
            assert server.captured(profiler.address)["state"] == "done"
            looked_up = server.captured("my-tpu")
            assert [worker["address"] for worker in looked_up["workers"]] == ["127.0.0.1:8466"]
            assert server.captured("broken")["error"]["message"].endswith("not be understood")
            addresses = f"grpc://user:{PASSWORD}@localhost:6009"
            for route in ("capture", "capture_test"):
                status, answer = server.post(route, {"addresses": addresses})
                assert (status, answer["error"]["field"]) == (400, "addresses")
                assert PASSWORD not in json.dumps(answer)
            assert server.post("capture_test", {"addresses": profiler.address})[0] == 200
            assert server.post("capture_cancel", {"id": "x"})[0] == 404
            assert server.post("capture", {}, "a" * 40)[0] == 403
            token = server.token
    assert f"Bearer {ACCESS_TOKEN}" in {authorization for _, authorization in google.requests}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    said = server.written.read_text("utf-8")
    # It was talkative: requests of pages are there, and those to Google.
    assert "/data/plugin/profile/capture" in said
    assert f"{NODES}my-tpu" in said
    for secret in (token, ACCESS_TOKEN, PASSWORD):
        found = [str(path) for path in files if secret.encode() in path.read_bytes()]
        assert found == [], secret


@pytest.mark.parametrize("command", [["capture", "--logdir", "logs"], ["doctor"]])
def test_the_commands_keep_passwords_to_themselves(command, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "tbprof.cli", *command, f"user:{PASSWORD}@localhost:6009"],
        capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert result.returncode == 1
    said = result.stdout + result.stderr
    assert "contains a user name" in said
    assert PASSWORD not in said
    assert list(tmp_path.iterdir()) == []
