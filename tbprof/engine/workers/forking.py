"""A process without threads that imports everything and forks workers for a server.

Forked workers start in a few ms and share the memory of what is imported. The server itself has
threads, so it cannot be forked; `multiprocessing` would import the server's main module into every
worker, for TensorBoard all of TensorBoard.

Standard input is a socket to the server. Each message is a number. 0, with a socket, requests a
worker; the reply is its process id. A process id ends that worker; the reply is its exit status.
Ids are not reused before that. The process writes `READY` to standard output when everything is
imported. For a command, which needs a few workers at once, it only forks: whatever it imported
after that would be for nobody.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tbprof._pb import message
from tbprof.base.lazy import compile_patterns, load
from tbprof.base.process.garbage import collect_garbage
from tbprof.base.process.parallel import thread_pool
from tbprof.engine.hosts.space_pool import read_space
from tbprof.engine.parts import PARTS
from tbprof.engine.workers.rehearsal import rehearse
from tbprof.engine.workers.starting import NUMBER, READY
from tbprof.engine.workers.worker import work

# The pause between imports.
_QUIET_S = 1.0
# The time for workers to finish writing after the server has ended.
_GRACE_S = 1.0


class _ServerGone(Exception):
    """The server has closed its end of the socket, or has ended."""


def main() -> None:
    """Forks workers until the server is gone, and imports everything meanwhile."""
    _fork_workers(_prepare)


def main_of_command() -> None:
    """Forks workers until the command is done."""
    _fork_workers(lambda _: None)


def _fork_workers(prepare: Callable[[Callable[[], None]], None]) -> None:
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    gc.disable()
    forker = _Forker(control)
    with suppress(_ServerGone):
        prepare(forker.obey_what_waits)
        os.dup2(0, 1)
        while True:
            forker.obey()
    forker.end_all()


def _prepare(wait: Callable[[], None]) -> None:
    """Imports everything and analyzes a small trace, with waits in between."""
    load(read_space)
    for kind in PARTS.values():
        wait()
        load(kind.compute)
    message("xla.HloProto")
    thread_pool(1)
    compile_patterns(wait)
    rehearse(wait)
    gc.freeze()
    os.write(1, READY)


class _Forker:
    """The workers that were forked, by process id, and the server that asked for them."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._workers: set[int] = set()

    def obey_what_waits(self) -> None:
        """Handles pending requests of the server, and yields the processors to workers.

        Raises _ServerGone.
        """
        patience = 0.0
        while select.select([self._control], [], [], patience)[0]:
            self.obey()
            patience = _QUIET_S

    def obey(self) -> None:
        """Waits for a message and handles it. Raises _ServerGone."""
        try:
            received, descriptors, *_ = socket.recv_fds(self._control, NUMBER.size, 1)
        except ConnectionError as error:
            raise _ServerGone from error
        if not received:
            raise _ServerGone
        (process,) = NUMBER.unpack(received)
        answer = self._end(process) if process else self._fork(descriptors[0])
        with suppress(OSError):
            self._control.send(NUMBER.pack(answer))

    def end_all(self) -> None:
        """Waits until workers end, as they do without a server, then kills those that are left."""
        until = time.monotonic() + _GRACE_S
        while self._workers and time.monotonic() < until:
            self._workers = {pid for pid in self._workers if os.waitpid(pid, os.WNOHANG)[0] != pid}
            time.sleep(0.01)
        for process in self._workers:
            os.kill(process, signal.SIGKILL)

    def _fork(self, descriptor: int) -> int:
        """The id of a new worker, or the negative number of the error."""
        connection = socket.socket(fileno=descriptor)
        with connection:
            try:
                process = os.fork()
            except OSError as error:
                return -(error.errno or 1)
            if not process:
                self._control.close()
                os.dup2(0, 1)
                _be_worker(connection)
        self._workers.add(process)
        return process

    def _end(self, process: int) -> int:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        self._workers.discard(process)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _be_worker(connection: socket.socket) -> None:
    """Never returns."""
    status = 1
    try:
        collect_garbage()
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500", "ascii")  # killed before the server
        work(connection.makefile("rb"), connection.makefile("wb"))
        status = 0
    except BaseException:  # noqa: BLE001 - this process is a copy, and must not go on
        traceback.print_exc()
    finally:
        os._exit(status)
