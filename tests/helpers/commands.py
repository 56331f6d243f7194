"""Runs a command in this process, as `tbprof` in a shell would."""

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from tbprof.cli import main


@dataclass
class Ran:
    """What a command printed, and its exit status."""

    exit_code: int
    stdout_bytes: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode()


def run(*arguments: object) -> Ran:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = leaving.code or 0
    assert isinstance(status, int)
    printed, said = (stream.buffer.getvalue() for stream in (out, err))
    return Ran(status, printed, said.decode())
