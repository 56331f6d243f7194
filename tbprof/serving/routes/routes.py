"""The routes of docs/http_api.md as one WSGI application, for TensorBoard and for `tbprof serve`.

A request's path selects the handler by exact name; names of runs and hosts are looked up, and
no part of a request ever becomes part of a path.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from werkzeug.wrappers import Request

import tbprof
from tbprof.base.errors import TbprofError
from tbprof.base.process.waiting import awaited_while
from tbprof.serving.assets import Assets
from tbprof.serving.clients import is_connected
from tbprof.serving.http_requests import Parameters
from tbprof.serving.responses import (
    CSP,
    HTML,
    JSON,
    PLAIN,
    Reply,
    error_reply,
    guarded,
    json_reply,
    response,
)
from tbprof.serving.routes.capture_routes import CAPTURE_ROUTES, POST_ROUTES, read_post
from tbprof.serving.routes.timeline_routes import TIMELINE_ROUTES
from tbprof.serving.service import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from tbprof.engine.engine import DataRequest

Handler = Callable[[Service, Parameters], Reply]
_METHODS = ("GET", "HEAD")
# Of events: what a list shows.
_MOST_NAMES = 20
_GRAPH = "graph_viewer"
_NO_MODULE = "NO_MODULE"


class NoRoute(TbprofError):
    """No route has this path."""

    code = "not_found"
    status = 404


class WrongMethod(TbprofError):
    """The route accepts other methods."""

    code = "method_not_allowed"
    status = 405


class Application:
    """The WSGI application below `data/plugin/<plugin name>/`, wherever it is mounted."""

    def __init__(self, service: Service, assets: Assets | None = None, csp: str = CSP) -> None:
        self._service = service
        self._assets = assets or Assets()
        self._csp = csp
        self._prefix = f"/data/plugin/{service.plugin_name}/"

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answers one request."""
        request = Request(environ)
        with awaited_while(lambda: is_connected(environ)):
            reply = guarded(lambda: self._answer(request))
        return response(request, reply, self._csp)(environ, start_response)

    def _answer(self, request: Request) -> Reply:
        name = self._name(request.path)
        post = POST_ROUTES.get(name)
        methods = ("POST",) if post is not None else _METHODS
        if request.method not in methods:
            error = WrongMethod(f"{request.method} is not allowed here", f"use {methods[0]}")
            return error_reply(error, ", ".join(methods))
        if post is not None:
            return post(self._service, read_post(self._service, request))
        handler = ROUTES.get(name)
        if handler is not None:
            parameters = Parameters(request.args, request.headers.get("Host", ""))
            parameters.check()
            return handler(self._service, parameters)
        asset = self._assets.get(name)
        if asset is None:
            raise NoRoute(f"no route is named {name[:200]!r}", "docs/http_api.md lists the routes")
        if name == "index.html":
            # The pages are being opened: the first request for data follows.
            self._service.warm_up()
        return asset

    def _name(self, path: str) -> str:
        """The route below our prefix, without one trailing slash, as TensorBoard routes it."""
        if not path.startswith(self._prefix):
            return ""
        return path[len(self._prefix) :].removesuffix("/")


def _runs(service: Service, _: Parameters) -> Reply:
    # From the logdir only: the page shows its runs while the engine is still loading.
    return json_reply(list(service.logdir().runs()))


def _run_tools(service: Service, parameters: Parameters) -> Reply:
    return json_reply(service.engine().run_tools(parameters.required("run")))


def _hosts(service: Service, parameters: Parameters) -> Reply:
    hosts = service.engine().hosts(parameters.required("run"), parameters.tag())
    return json_reply([{"hostname": host} for host in hosts])


def _module_list(service: Service, parameters: Parameters) -> Reply:
    """The programs of a run as scripts know them: "jit_f(7),jit_g(9)", `NO_MODULE` without any."""
    titles = service.engine().programs(parameters.required("run"))
    return Reply(",".join(titles or [_NO_MODULE]).encode("utf-8", "replace"), PLAIN)


def _data(service: Service, parameters: Parameters) -> Reply:
    others = parameters.others()
    if parameters.tag() == _GRAPH and others.get("format") == "html":
        return _graph_page(parameters.required("run"), others)
    return _body(service, parameters, is_csv=parameters.wants_csv())


def _graph_page(run: str, others: Mapping[str, str]) -> Reply:
    """A page that opens the graph in ours: a browser draws it."""
    chosen = {name: text for name, text in others.items() if name not in ("format", "type")}
    address = f"index.html#{urlencode({'run': run, 'tool': _GRAPH, **chosen})}"
    link = html.escape(address)
    return Reply(
        f'<!doctype html><meta charset="utf-8"><title>Graph viewer</title>'
        f'<meta http-equiv="refresh" content="0; url={link}"><a href="{link}">Graph</a>'.encode(),
        HTML,
    )


def _data_csv(service: Service, parameters: Parameters) -> Reply:
    return _body(service, parameters, is_csv=True)


def _body(service: Service, parameters: Parameters, *, is_csv: bool) -> Reply:
    from tbprof.engine.requests import Stream  # not before the engine is needed: it is heavy

    engine = service.engine()
    body = engine.data(_data_request(service, parameters, is_csv=is_csv))
    if isinstance(body, Stream):
        return Reply(
            b"",
            body.content_type,
            etag=body.etag,
            filename=body.filename,
            chunks=lambda: body.chunks(is_strict=False),
        )
    return Reply(
        body.content,
        body.content_type,
        etag=body.etag,
        filename=body.filename,
        gzipped=lambda: body.gzipped,
    )


def _kernel_calls(service: Service, parameters: Parameters) -> Reply:
    from tbprof.engine.kernel_requests import ChosenKernel, kernel_calls  # heavy, as the engine is

    run, values = parameters.required("run"), parameters.values
    choices = [values.get(name) for name in ("op", "launch", "eligible", "use", "copy")]
    chosen = ChosenKernel(parameters.required("kernel"), *choices)
    content = kernel_calls(service.engine(), run, _hosts_of(service, parameters), chosen)
    return Reply(content, JSON)


def _event_names(service: Service, parameters: Parameters) -> Reply:
    from tbprof.engine.timelines.event_names import event_names  # heavy, as the engine is

    run, query = parameters.required("run"), parameters.required("q")
    hosts = _hosts_of(service, parameters)
    content = event_names(service.engine(), run, hosts, query, _MOST_NAMES)
    return Reply(content, JSON)


def _hosts_of(service: Service, parameters: Parameters) -> tuple[str, ...]:
    run = parameters.required("run")
    return parameters.hosts(lambda: {file.host for file in service.logdir().run(run).files})


def _data_request(service: Service, parameters: Parameters, *, is_csv: bool) -> DataRequest:
    from tbprof.engine.engine import DataRequest  # not before the engine is needed: it is heavy

    return DataRequest(
        run=parameters.required("run"),
        tag=parameters.tag(),
        hosts=_hosts_of(service, parameters),
        layout="rows" if is_csv else parameters.layout(),
        format="csv" if is_csv else "json",
        table=parameters.table(),
        first_row=None if is_csv else parameters.first_row(),
        params=parameters.others(),
    )


def _version(_: Service, __: Parameters) -> Reply:
    return Reply(tbprof.__version__.encode(), PLAIN)


def _config(service: Service, parameters: Parameters) -> Reply:
    off = service.captures_off(parameters.host)
    return json_reply(
        {
            "hideCaptureProfileButton": bool(off),
            "srcPathPrefix": "",
            "enableTabNameLabel": False,
            "version": tbprof.__version__,
            "pluginName": service.plugin_name,
            "capture": {
                "off": off,
                "token": "" if off else service.token,
                "logdir": service.capture_logdir(),
            },
        }
    )


def _logdir(service: Service, _: Parameters) -> Reply:
    logdir = service.logdir()
    try:
        runs = logdir.runs()
    except TbprofError:
        runs = {}  # the report says what cannot be reached
    report = logdir.report()
    return json_reply(
        {
            "logdir": report.logdir,
            "scanning": report.scanning,
            "searched": {
                "directories": report.directories,
                "files": report.files,
                "seconds": round(report.seconds, 3),
                "stopped": report.stopped,
            },
            "ignored": [{"path": entry.path, "reason": entry.reason} for entry in report.ignored],
            "runs": [
                {
                    "name": run.name,
                    "hosts": len(run.files),
                    "bytes": sum(file.bytes for file in run.files),
                    "modified_ms": max(
                        (file.modified_ns // 10**6 for file in run.files), default=0
                    ),
                }
                for run in runs.values()
            ],
        }
    )


def _doctor(service: Service, parameters: Parameters) -> Reply:
    from tbprof.engine.doctor import examine_installation, examine_logdir, examine_run

    run = parameters.values.get("run", "")
    engine = service.engine()
    checks = examine_run(engine, run) if run else examine_logdir(service.logdir(), engine)
    installation = examine_installation(shows_paths=False)
    return json_reply([asdict(check) for check in (*checks, *installation)])


def _session(service: Service, parameters: Parameters) -> Reply:
    return json_reply(service.engine().session(parameters.values.get("run", "")))


def _progress(service: Service, parameters: Parameters) -> Reply:
    """Never waits: it is called while another request loads the engine."""
    run, tag = parameters.required("run"), parameters.tag()
    idle = {"done": 0, "total": 0, "share": 0}
    if service.failure is not None:
        text = service.failure.message
        return json_reply({**idle, "state": "error", "text": text})
    engine = service.loaded
    if engine is None:
        return json_reply({**idle, "state": "preparing", "text": "Loading tbprof"})
    return json_reply(engine.progress(run, tag))


def _openapi(_: Service, __: Parameters) -> Reply:
    from tbprof.serving.routes.openapi import openapi  # rarely asked for

    return json_reply(openapi())


ROUTES: dict[str, Handler] = {
    "runs": _runs,
    "run_tools": _run_tools,
    "hosts": _hosts,
    "module_list": _module_list,
    "data": _data,
    "data_csv": _data_csv,
    "kernel_calls": _kernel_calls,
    "event_names": _event_names,
    "version": _version,
    "config": _config,
    "logdir": _logdir,
    "session": _session,
    "progress": _progress,
    "doctor": _doctor,
    "openapi.json": _openapi,
    **TIMELINE_ROUTES,
    **CAPTURE_ROUTES,
}
