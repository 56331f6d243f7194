"""A Dask cluster of this machine for benchmarks: a scheduler, and workers of one thread each."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

READY_SECONDS = 60


@contextmanager
def local_cluster(python: str, folder: Path, workers: int, env: Mapping[str, str]) -> Iterator[str]:
    """The address of its scheduler; all its workers are ready."""
    address = folder / "scheduler.json"
    address.unlink(missing_ok=True)
    scheduler = [python, "-m", "distributed.cli.dask_scheduler", "--host=127.0.0.1", "--port=0"]
    scheduler += ["--dashboard-address=127.0.0.1:0", f"--scheduler-file={address}"]
    worker = [python, "-m", "distributed.cli.dask_worker", f"--scheduler-file={address}"]
    worker += ["--nthreads=1", "--no-dashboard", f"--local-directory={folder}"]
    started = [
        subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
        for command in (scheduler, *[worker] * workers)
    ]
    try:
        _wait(python, address, workers, env)
        yield str(json.loads(address.read_text())["address"])
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def _wait(python: str, address: Path, workers: int, env: Mapping[str, str]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not address.exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the Dask scheduler did not start: is 'distributed' installed?")
        time.sleep(0.1)
    program = (
        "import sys; from distributed import Client\n"
        "with Client(scheduler_file=sys.argv[1]) as client:\n"
        "    client.wait_for_workers(int(sys.argv[2]))\n"
    )
    command = [python, "-c", program, str(address), str(workers)]
    subprocess.run(command, env=env, check=True, timeout=READY_SECONDS)
