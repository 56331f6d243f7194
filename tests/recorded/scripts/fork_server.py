"""Runs programs in forks of this process, which has imported TensorFlow: none waits for that.

    python fork_server.py

Each line of input is a JSON object, and is answered by one line of JSON. {"run": [SCRIPT,
ARGUMENT...], "output": FILE} starts a program whose stdout and stderr go to FILE; the answer is its
process id. {"status": PROCESS, "waits": BOOL} answers with its exit status, that of a signal below
0, or null if it runs and nobody waits. Only the standard library and TensorFlow are used.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import tensorflow as tf  # noqa: F401


def main() -> None:
    """Answers until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        request = json.loads(line)
        if "run" in request:
            answer = os.fork() or _become(request["run"], request["output"])
        else:
            answer = _status(request["status"], 0 if request["waits"] else os.WNOHANG)
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()


def _status(process: int, options: int) -> int | None:
    ended, status = os.waitpid(process, options)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become(command: list[str], output: str) -> NoReturn:
    """Runs a script as `python SCRIPT ARGUMENT...` does, then exits without teardown."""
    status = 1
    try:
        written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(written, 1)
        os.dup2(written, 2)
        sys.argv = command
        sys.path[0] = str(Path(command[0]).parent)
        runpy.run_path(command[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:  # noqa: BLE001  # a fork must not go on as the server
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
