"""The routes that record. Only they change anything, so they check the sender.

A capture is started by POST with a token that only our own pages can read, from the page's own
origin: another site that is open in the browser can do neither.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request

from tbprof.base.errors import BadRequest, TbprofError
from tbprof.serving.http_requests import Parameters
from tbprof.serving.responses import Reply, json_reply
from tbprof.serving.service import Service

if TYPE_CHECKING:
    from tbprof.capturing.probing.probe import ProbeResult
    from tbprof.capturing.requests.targets import Target
    from tbprof.capturing.sessions.queue import Standing

PROOF_HEADER = "X-Tbprof-Token"
_MOST_BYTES = 1 << 20
_MOST_TESTED = 64
_TESTING = threading.Lock()

PostHandler = Callable[[Service, dict[str, object]], Reply]


class Forbidden(TbprofError):
    """The request does not come from our own page."""

    code = "forbidden"
    status = 403


class ProbeRunning(TbprofError):
    """A connection test waits for another one."""

    code = "probe_running"
    status = 429


def read_post(service: Service, request: Request) -> dict[str, object]:
    """The JSON object of a POST that may change something. Raises Forbidden, BadRequest."""
    _check_enabled(service, request.headers.get("Host", ""))
    _check_origin(request)
    token = request.headers.get(PROOF_HEADER, "")
    if not hmac.compare_digest(token.encode(), service.token.encode()):
        raise Forbidden("the token is missing or wrong", "load the page again")
    try:
        value = json.loads(_body(request) or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest("the request is not JSON") from error
    if not isinstance(value, dict):
        raise BadRequest("the request is not a JSON object")
    return value


def _body(request: Request) -> bytes:
    """The whole body. Raises BadRequest if it is too large, whether it states its size or not."""
    request.max_content_length = _MOST_BYTES + 1  # a body of unknown length is cut off there
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        body = bytes(_MOST_BYTES + 1)
    if len(body) > _MOST_BYTES:
        raise BadRequest("the request is too large")
    return body


def _check_enabled(service: Service, host: str) -> None:
    reason = service.captures_off(host)
    if reason:
        raise Forbidden(f"profiles cannot be captured here: {reason}")


def _check_origin(request: Request) -> None:
    """Browsers state the origin of a request; clients that do not are not browsers."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    elif origin is not None:
        is_own = urlsplit(origin).netloc == request.host
    else:
        is_own = True
    if not is_own:
        raise Forbidden("the request comes from another site", "capture from tbprof's own page")


def _capture(service: Service, values: dict[str, object]) -> Reply:
    from tbprof.capturing.requests.request import parse_request

    id_ = service.captures().start(parse_request(values))
    return json_reply(_shown(service.captures().standing(id_)), 202)


def _cancel(service: Service, values: dict[str, object]) -> Reply:
    captures = service.captures()
    id_ = str(values.get("id", ""))
    captures.cancel(id_)
    return json_reply(_shown(captures.standing(id_)))


def _test(_: Service, values: dict[str, object]) -> Reply:
    from tbprof.capturing.probing.probe import probe_all
    from tbprof.capturing.requests.request import parse_request

    targets = parse_request(
        {key: values[key] for key in ("addresses", "workers") if key in values}
    ).asked
    if len(targets) > _MOST_TESTED:
        raise BadRequest(
            f"{len(targets):,} addresses are too many for one test",
            f"at most {_MOST_TESTED} are tested at a time",
        )
    if not _TESTING.acquire(blocking=False):
        raise ProbeRunning("another connection test is running", "try again when it has ended")
    try:
        probed = probe_all(targets)
    finally:
        _TESTING.release()
    rows = [_tested(target, findings) for target, findings in zip(targets, probed, strict=True)]
    return json_reply({"workers": rows})


def _tested(target: Target, findings: list[ProbeResult]) -> dict[str, object]:
    failed = next((finding.reason for finding in findings if finding.reason is not None), None)
    return {
        "address": target.address,
        "is_tpu_name": target.is_tpu_name,
        "steps": [
            {"step": finding.step.value, "ok": finding.reason is None, "detail": finding.detail}
            for finding in findings
        ],
        "reason": failed.code if failed else "",
        "message": failed.text if failed else "",
        "fix": failed.fix if failed else "",
    }


def _standing(service: Service, parameters: Parameters) -> Reply:
    _check_enabled(service, parameters.host)
    captures = service.captures()
    if not parameters.values.get("id"):
        running = [_shown(captures.standing(id_)) for id_ in captures.unfinished()]
        return json_reply({"captures": running})
    return json_reply(_shown(captures.standing(parameters.required("id"))))


def _shown(standing: Standing) -> dict[str, Any]:
    report, error = standing.report, standing.error
    return {
        "id": standing.id,
        "state": standing.state,
        "ahead": standing.ahead,
        "elapsed_s": round(standing.elapsed_s, 3),
        "duration_ms": standing.duration_ms,
        "delay_ms": standing.delay_ms,
        "share": round(standing.share, 3),
        "run": report.run if report is not None else "",
        "written": report.written if report is not None else 0,
        "workers": [asdict(worker) for worker in report.workers] if report is not None else [],
        "error": None if error is None else {"message": error.message, "hint": error.hint},
    }


# GET routes: the status of captures.
CAPTURE_ROUTES = {"captures": _standing}
# Routes that only accept POST.
POST_ROUTES: dict[str, PostHandler] = {
    "capture": _capture,
    "capture_cancel": _cancel,
    "capture_test": _test,
}
