"""The addresses of TPUs by name, from the Cloud TPU API.

Sources: google/cloud/tpu/v2/cloud_tpu.proto (GetNode, Node, NetworkEndpoint) and TensorFlow's
tensorflow/python/tpu/client/client.py, which refuses nodes that are not READY, too.
"""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from urllib.parse import quote

from tbprof.base.errors import TbprofError
from tbprof.capturing.requests.targets import TPU_PORT, Target

_API = "https://tpu.googleapis.com/v2"
# As Google's own libraries find it. Source: google.auth.environment_vars.
_METADATA_HOST = "GCE_METADATA_HOST"
_METADATA = "http://{}/computeMetadata/v1/instance/zone"
_FLAVOR = {"Metadata-Flavor": "Google"}
_READY = ("", "READY")  # an unknown state is left out
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_TIMEOUT_S = 15
_ADDRESS_HINT = "give the workers' addresses instead, such as 10.0.0.2:8466"


class TpuNotFound(TbprofError):
    """A TPU's name could not be looked up."""

    code = "tpu_not_found"
    status = 422


def find_tpus(targets: Sequence[Target]) -> list[Target]:
    """The targets, with the workers of a TPU instead of its name, each once, in order.

    Names are looked up in the project and zone of the environment (CLOUDSDK_CORE_PROJECT,
    CLOUDSDK_COMPUTE_ZONE) or of this machine; `projects/…/locations/…/nodes/…` contains them.
    TBPROF_TPU_API overrides the address of the API. Raises TpuNotFound.
    """
    resolved: list[Target] = []
    for target in targets:
        resolved.extend(_workers(target.host) if target.is_tpu_name else [target])
    return list(dict.fromkeys(resolved))


def _workers(name: str) -> list[Target]:
    session, project = _session(name)
    api = os.environ.get("TBPROF_TPU_API", _API)
    path = name if "/" in name else _path(project, name)
    try:
        with session:
            answer = session.get(f"{api}/{quote(path)}", timeout=_TIMEOUT_S)
    except Exception as error:  # of google-auth and requests, which share no base class
        raise TpuNotFound(
            f"the Cloud TPU API does not respond: {_said(error)}", _ADDRESS_HINT
        ) from error
    if answer.status_code != 200:
        raise TpuNotFound(
            f"the Cloud TPU API has no {path!r} for you (status {answer.status_code})",
            f"check name, project, zone and permissions, or {_ADDRESS_HINT}",
        )
    try:
        node = json.loads(answer.text)
        state, why = str(node.get("state", "")), str(node.get("healthDescription", ""))
        # Its ports are those of training; profilers have their own.
        hosts = [
            str(ipaddress.ip_address(endpoint["ipAddress"])) for endpoint in _endpoints(node, state)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TpuNotFound(
            "the Cloud TPU API's response could not be understood", _ADDRESS_HINT
        ) from error
    if state not in _READY:
        more = f": {why[:200]}" if why else ""
        raise TpuNotFound(
            f"the TPU {path!r} is {state[:40]}, not READY{more}",
            "start it, or wait until it is ready: gcloud compute tpus tpu-vm describe shows that",
        )
    if not hosts:
        raise TpuNotFound(f"the TPU {path!r} has no addresses: is it running?", _ADDRESS_HINT)
    return [Target(host, TPU_PORT) for host in hosts]


def _endpoints(node: dict[str, Any], state: str) -> list[dict[str, Any]]:
    # Workers of a node that is being created may have no address yet.
    return list(node.get("networkEndpoints", ())) if state in _READY else []


def _said(error: Exception) -> str:
    """The message of an error, without its payload, which may be a complete response."""
    return f"{type(error).__name__}: {str(next(iter(error.args), ''))[:200].rstrip('.')}"


def _session(name: str) -> tuple[Any, str]:
    """(an HTTP session with the user's credentials, their project)."""
    try:
        auth = import_module("google.auth")
        requests = import_module("google.auth.transport.requests")
    except ImportError as error:
        raise TpuNotFound(
            f"{name!r} has no port, so it would be the name of a TPU, which needs google-auth",
            f"pip install 'tbprof[tpu]', or {_ADDRESS_HINT}",
        ) from error
    try:
        credentials, project = auth.default(scopes=[_SCOPE])
    except Exception as error:
        raise TpuNotFound(
            f"there are no Google Cloud credentials: {_said(error)}",
            f"run 'gcloud auth application-default login', or {_ADDRESS_HINT}",
        ) from error
    return requests.AuthorizedSession(credentials), project or ""


def _path(project: str, name: str) -> str:
    project = os.environ.get("CLOUDSDK_CORE_PROJECT", project)
    zone = os.environ.get("CLOUDSDK_COMPUTE_ZONE", "") or _own_zone()
    if not project or not zone:
        raise TpuNotFound(
            f"project and zone of the TPU {name!r} are not known",
            "name it as projects/PROJECT/locations/ZONE/nodes/NAME, or set CLOUDSDK_CORE_PROJECT "
            "and CLOUDSDK_COMPUTE_ZONE",
        )
    return f"projects/{project}/locations/{zone}/nodes/{name}"


def _own_zone() -> str:
    """The zone of this machine, "" if it is not one of Google's.

    Requested without credentials: elsewhere any server may answer to that name.
    """
    host = os.environ.get(_METADATA_HOST, "metadata.google.internal")
    try:
        answer = import_module("requests").get(_METADATA.format(host), headers=_FLAVOR, timeout=2)
    except Exception:  # noqa: BLE001 - see above; there is no such host elsewhere
        return ""
    is_google = answer.headers.get("Metadata-Flavor") == _FLAVOR["Metadata-Flavor"]
    return answer.text.rpartition("/")[2] if is_google and answer.status_code == 200 else ""
