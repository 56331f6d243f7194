"""Messages to browsers name files as users know them, not where this machine keeps them."""

import gzip
import os

import pytest
from helpers.asking import client_of
from traces import draw

from tbprof.base.process.user_dirs import cache_directory
from tbprof.serving.routes.routes import ROUTES
from tbprof.tools import TOOLS

TRACE = draw({"/device:GPU:0": "Stream #1 |kk.kk"})
BROKEN = {
    "bytes": b"\xff" * 50,
    "empty": b"",
    "cut": TRACE[: len(TRACE) // 2],
    "packed": gzip.compress(os.urandom(4000)),
    "half": gzip.compress(TRACE * 50)[:-20],
}
# They show the logdir, which the user gave, and captures are written to.
SHOW_LOGDIR = {"config", "logdir"}


@pytest.fixture
def client(tmp_path):
    for name, content in BROKEN.items():
        run = tmp_path / "logs/plugins/profile" / name
        run.mkdir(parents=True)
        (run / "host0.xplane.pb").write_bytes(content)
    pipe = tmp_path / "logs/plugins/profile/pipe"
    pipe.mkdir()
    if hasattr(os, "mkfifo"):  # not on Windows
        os.mkfifo(pipe / "host0.xplane.pb")
    return client_of(tmp_path / "logs")


@pytest.mark.parametrize("run", [*BROKEN, "pipe"])
def test_answers_contain_no_path_of_this_machine(client, tmp_path, run):
    failures = 0
    for route in sorted(set(ROUTES) - SHOW_LOGDIR):
        for tool in TOOLS:
            query = {"run": run, "tag": tool.name, "host": "host0", "q": "k", "kernel": "k"}
            answer = client.get(f"/data/plugin/profile/{route}", query_string=query)
            failures += answer.status_code >= 400
            assert str(tmp_path) not in answer.text, (route, answer.text)
            assert str(cache_directory()) not in answer.text, (route, answer.text)
    assert failures


def test_a_damaged_file_is_named_by_its_run(client):
    answer = client.get("/data/plugin/profile/session", query_string={"run": "bytes"})
    assert answer.json["hosts"][0]["error"]["message"].startswith("bytes/host0.xplane.pb: ")
