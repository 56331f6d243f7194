"""Servers of remote storages, each started once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from helpers.started.storage_servers import KINDS, Storage, storage_of

from tbprof.storage import logdir as logdir_module
from tbprof.storage.remote import remote_files


@pytest.fixture(scope="session")
def servers(tmp_path_factory) -> Iterator[Callable[[str], Storage]]:
    """The storage server of a kind."""
    started: dict[str, Storage] = {}
    with ExitStack() as stack:

        def server_of(kind: str) -> Storage:
            if kind not in started:
                storage = storage_of(kind, tmp_path_factory.mktemp(kind))
                started[kind] = stack.enter_context(storage)
            return started[kind]

        yield server_of


@pytest.fixture(params=KINDS)
def server(request, servers) -> Storage:
    """A storage server; tests choose kinds by indirect parameters."""
    return servers(request.param)


@pytest.fixture
def storage(server, monkeypatch) -> Storage:
    """A new logdir on it: nobody has connected to it, listings are always old, searches due."""
    monkeypatch.setattr(remote_files, "_opened", {})
    monkeypatch.setattr(logdir_module, "REMOTE_AGE_S", 0.0)
    monkeypatch.setattr(logdir_module, "DUTY", 0)
    return server.afresh()
