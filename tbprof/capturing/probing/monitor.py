"""Queries how busy TPUs are, without recording anything."""

from __future__ import annotations

from contextlib import closing

import grpc

from tbprof._pb import message
from tbprof.base.errors import TbprofError
from tbprof.capturing.probing.probe import why_unreachable
from tbprof.capturing.probing.reasons import Reason, reason_of_error
from tbprof.capturing.protocol.channels import error_of, open_channel
from tbprof.capturing.protocol.profiler_messages import MONITOR
from tbprof.capturing.requests.targets import Target


class NotMonitored(TbprofError):
    """A server's load could not be queried."""

    code = "not_monitored"
    status = 502


def monitor(target: Target, duration_ms: int) -> str:
    """The server's own report over `duration_ms`, as text. Raises NotMonitored.

    Only Cloud TPUs answer: profiler servers of TensorFlow and JAX programs do not support
    monitoring.
    """
    reason = why_unreachable(target)
    if reason is not None:
        raise NotMonitored(f"{target.address}: {reason.text}", reason.fix)
    request = message("tensorflow.MonitorRequest")(
        duration_ms=duration_ms, monitoring_level=1, timestamp=True
    )
    with closing(open_channel(target.address)) as channel:
        ask: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(MONITOR)
        try:
            answer = ask(request.SerializeToString(), timeout=duration_ms / 1000 + 30)
        except grpc.RpcError as error:
            code, details = error_of(error)
            if code is grpc.StatusCode.UNIMPLEMENTED:
                raise NotMonitored(
                    f"{target.address} cannot be monitored: only Cloud TPUs can",
                    "record a profile instead: tbprof capture without --monitor",
                ) from None
            reason = reason_of_error(code, details)
            raise NotMonitored(f"{target.address}: {reason.text}: {details}", reason.fix) from None
    from google.protobuf.message import DecodeError

    try:
        return str(message("tensorflow.MonitorResponse").FromString(answer).data)
    except DecodeError as error:
        raise NotMonitored(
            f"{target.address}: {Reason.GARBLED.text}", Reason.GARBLED.fix
        ) from error
