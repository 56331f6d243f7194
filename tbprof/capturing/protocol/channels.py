"""Channels to profiler servers: unencrypted, as these servers require, and without size limits."""

from __future__ import annotations

import grpc

# A worker that vanishes (power, network) must not keep us waiting until the deadline. Servers
# allow a ping every five minutes without data by default, so pings come only during a call.
_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),  # workers are on our network
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


def open_channel(address: str) -> grpc.Channel:
    """A channel to an address; connects on first use."""
    return grpc.insecure_channel(address, _OPTIONS)


def error_of(error: BaseException) -> tuple[grpc.StatusCode, str]:
    """(status, details) of a failed call."""
    code = error.code() if hasattr(error, "code") else None
    details = error.details() if hasattr(error, "details") else None
    return code or grpc.StatusCode.UNKNOWN, details or str(error)
