"""Starts worker processes, and ends them."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

from tbprof.base.records import dataclass

# TensorBoard may be started with any main module, none of which a worker needs.
_CODE = "import sys; sys.path[:] = sys.argv[1:]; from {} import {} as main; main()"
_PATIENCE_S = 60.0
# The messages to and from the process that forks workers.
NUMBER = struct.Struct("q")
READY = b"r"


class NoWorkers(Exception):
    """No process can be started now, and why."""


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A worker, and the connection to it.

    `reap` kills it if it is still running, and returns its status.
    """

    id: int
    reader: IO[bytes]
    writer: IO[bytes]
    reap: Callable[[], int]

    def end(self) -> int:
        """Ends the process; returns its status, negative for the signal that ended it."""
        with suppress(OSError):  # there may be unsent data
            self.writer.close()
        self.reader.close()
        return self.reap()

    def kill(self) -> None:
        """Kills the process, from another thread than the one that reads from it."""
        with suppress(OSError):
            os.kill(self.id, getattr(signal, "SIGKILL", signal.SIGTERM))


class Starter(Protocol):
    """Starts workers. Raises NoWorkers if it cannot."""

    def get_ready(self) -> None:
        """Returns when new workers have everything imported, or when the starter has ended."""

    def start(self) -> WorkerProcess:
        """A new worker."""

    def close(self) -> None:
        """Ends the starter's own process; workers end with their connections."""


def make_starter(*, is_for_command: bool = False) -> Starter:
    """The starter for this system, for a server or a command. Raises NoWorkers."""
    if getattr(sys, "frozen", False) or not sys.executable:
        raise NoWorkers("this Python cannot be started again")
    # Forking after system libraries were loaded is not safe on macOS.
    return Forked(is_for_command=is_for_command) if sys.platform == "linux" else Spawned()


class Spawned:
    """Starts each worker as a new Python: works everywhere, and takes half a second each."""

    def get_ready(self) -> None:
        """Each worker imports what it needs."""

    def start(self) -> WorkerProcess:
        """A new worker."""
        process = _python("worker", "main", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if process.stdin is None or process.stdout is None:
            raise NoWorkers("a process has no standard streams")

        def reap() -> int:
            process.kill()
            return process.wait()

        return WorkerProcess(process.pid, process.stdout, process.stdin, reap)

    def close(self) -> None:
        """Nothing belongs to it."""


class Forked:
    """Starts workers through a process that forks them, see `forking`."""

    def __init__(self, *, is_for_command: bool = False) -> None:
        main = "main_of_command" if is_for_command else "main"
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            forker = _python("forking", main, stdin=theirs.fileno(), stdout=subprocess.PIPE)
        except NoWorkers:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.settimeout(_PATIENCE_S)
        self._control = ours
        self._output = forker.stdout
        self.process = forker.pid
        self.close = weakref.finalize(self, _close, ours, forker)

    def get_ready(self) -> None:
        """Returns when it has imported everything, or has ended."""
        if self._output is not None:
            self._output.read(len(READY))

    def start(self) -> WorkerProcess:
        """A new worker."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = self._ask(0, theirs.fileno())
            if process < 0:
                raise NoWorkers(os.strerror(-process))
            reader, writer = ours.makefile("rb"), ours.makefile("wb")
        return WorkerProcess(process, reader, writer, lambda: self._reap(process))

    def _reap(self, process: int) -> int:
        try:
            return self._ask(process)
        except NoWorkers:  # which was the worker's parent: the worker has ended, too
            return -signal.SIGKILL

    def _ask(self, process: int, *descriptors: int) -> int:
        try:
            with self._lock:
                socket.send_fds(self._control, [NUMBER.pack(process)], descriptors)
                (answer,) = NUMBER.unpack(self._control.recv(NUMBER.size))
        except (OSError, struct.error) as error:
            raise NoWorkers("the process that starts workers has ended") from error
        return int(answer)


def _python(module: str, main: str, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    """A Python process that runs a function of a module of this package, with our import path.

    In a separate session: Ctrl-C in a terminal goes to the server only, which ends its processes.
    """
    code = _CODE.format(f"{__package__}.{module}", main)
    is_windows = sys.platform == "win32"
    try:
        return subprocess.Popen(  # noqa: S603 - our own modules
            [sys.executable, "-c", code, *sys.path],
            stdin=stdin,
            stdout=stdout,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=not is_windows,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        raise NoWorkers(str(error)) from error


def _close(control: socket.socket, forker: subprocess.Popen[bytes]) -> None:
    control.close()
    with suppress(subprocess.TimeoutExpired):
        forker.wait(_PATIENCE_S)
    if forker.stdout is not None:
        forker.stdout.close()
