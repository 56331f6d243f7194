"""`tbprof serve`: the pages without TensorBoard."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from tbprof.base.process.garbage import collect_garbage
from tbprof.cli_scheduler import declare_scheduler
from tbprof.engine.workers.clusters.scheduler import SCHEDULER, cluster_at

_MOST_PROCESSES = 64


def declare(parser: ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    paths = "a logdir, a run directory, or one or more trace files"
    parser.add_argument("paths", metavar="LOGDIR", nargs="+", help=paths)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--port",
        default=6006,
        type=_port,
        metavar="N",
        help="port to listen on; 0 picks a free one",
    )
    parser.add_argument(
        "--allow-host",
        dest="allowed",
        action="append",
        default=[],
        metavar="NAME",
        help="host name under which browsers may reach this server; may be repeated; * allows any",
    )
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument(
        "--token",
        default="",
        metavar="TEXT",
        help="the token that requests must contain; default: the environment variable "
        "TBPROF_TOKEN, or a new token if other machines can reach the server",
    )
    tokens.add_argument(
        "--no-token",
        action="store_true",
        help="do not require a token: everyone who can reach the server sees everything",
    )
    parser.add_argument(
        "--no-capture", action="store_true", help="show runs, but do not allow captures"
    )
    parser.add_argument(
        "--processes",
        type=_processes,
        metavar="N",
        help="how many processes read traces; 0 reads them in the server itself, without limits of "
        "memory and time; default: as many as there are processors, at most 4",
    )
    declare_scheduler(parser)


def _processes(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST_PROCESSES:
        raise ArgumentTypeError(f"{text!r} is not a number of processes, 0 to {_MOST_PROCESSES}")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port number, 0 to 65535")
    return int(text)


def serve(chosen: Namespace) -> None:
    """Answers requests until Ctrl-C."""
    import logging

    from tbprof.serving import standalone
    from tbprof.serving.access import TOKEN, choose_token

    collect_garbage()
    cluster_at(chosen.scheduler)  # which fails now if Dask is not installed
    os.environ[SCHEDULER] = chosen.scheduler
    given = chosen.token or os.environ.get(TOKEN, "")
    token = "" if chosen.no_token else choose_token(chosen.host, given)
    server = standalone.make_standalone(
        chosen.paths,
        chosen.host,
        chosen.port,
        chosen.allowed,
        can_capture=not chosen.no_capture,
        token=token,
        processes=chosen.processes,
    )
    standalone.serve(server, _announce, token)
    # Background work is cut off now; its messages about that would look like errors.
    logging.disable()


def _announce(url: str) -> None:
    print(f"tbprof is at {url} (Ctrl-C stops it)", flush=True)
