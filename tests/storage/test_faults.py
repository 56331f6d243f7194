"""Processes that are killed while they write, and full disks; longer runs: docs/security.md."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from storage import kills

TESTS = Path(__file__).resolve().parents[1]
# A small disk for one process: needs namespaces, which containers may lack.
MOUNTED = 'mount -t tmpfs -o size=40m none "$1" && exec "$2" -m storage.full_disk "$1"'


@pytest.fixture
def _paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS.parent), str(TESTS)]))


@pytest.mark.slow
@pytest.mark.usefixtures("_paths")
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a signal of POSIX")
def test_what_a_killed_process_kept_is_whole_or_absent():
    counts = kills.run(3, seed=1)
    assert counts["kills"] == 3


@pytest.mark.slow
@pytest.mark.usefixtures("_paths")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces of Linux")
def test_a_full_disk_costs_nothing_but_what_it_cannot_hold(tmp_path):
    command = ["unshare", "-Urm", "sh", "-c"]
    if subprocess.run([*command, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        pytest.skip("this machine allows no namespace with a mount of its own")
    ran = subprocess.run(
        [*command, MOUNTED, "sh", str(tmp_path), sys.executable], capture_output=True, text=True
    )
    assert ran.stdout == "as expected\n", ran.stderr
    assert ran.stderr.count("logged: The cache directory") == 1, ran.stderr
