"""The peers with which a compiled program exchanges data through its host."""

from __future__ import annotations

from enum import IntEnum

from tbprof.base.lazy import regex

# Names of exchanges with the host on TPUs. Source: xla/tsl/profiler/convert/xla_op_utils.h.
_WITH_HOST = frozenset({"host send", "host send-done", "host recv", "host recv-done"})
_WITH_ANY = frozenset({"send", "send-done", "recv", "recv-done"})

# The handler of the host's end of a transfer. Sources: XLA, side_effect_util.cc ("tf_rendezvous",
# of TensorFlow's outside compilation); JAX, callback.py ("pjrt_rendezvous", or the callback's
# name).
HANDLER = "_xla_host_transfer_handler_name"
_HANDLER = regex(rf'{HANDLER}="([^"]*)"')
_MEGASCALE = "xla_megascale_runtime"
_IS_HOST = "is_host_transfer=true"
# Framework ops that call the host, by name or type: `jit(step)/pure_callback`, `s/XlaSendToHost`.
_CALLS = regex(
    r"(?:pure|io|debug)_callback|debug_print|XlaSendToHost|XlaRecvFromHost|XlaHostCompute"
    r"|outside_compilation"
)


class Peer(IntEnum):
    """The peer of an exchange of data; `HOST` if only the host is known."""

    NONE = 0
    SLICES = 1  # collectives with other slices, over the network of the data center
    CALLBACK = 2  # code that the host runs while the program waits
    HOST = 3


def is_exchange(kind: str) -> bool:
    """Whether an op of this category or opcode sends or receives, or waits for that."""
    return kind in _WITH_ANY or kind in _WITH_HOST


def peer_of(kind: str, text: str, handler: str, op: str, *, is_host: bool = False) -> Peer:
    """The peer of an instruction; NONE if it exchanges nothing with its host.

    `kind` is its category or opcode, `text` its HLO text as far as known, `handler` the handler
    that the program states ("" if unknown), and `op` its framework op. `is_host` says that the
    program marks the instruction as a host transfer.
    """
    if kind not in _WITH_HOST and not (kind in _WITH_ANY and (is_host or _IS_HOST in text)):
        return Peer.NONE
    stated = _HANDLER.search(text)
    handler = handler or (stated[1] if stated else "")
    if handler == _MEGASCALE:
        return Peer.SLICES
    return Peer.CALLBACK if handler or _CALLS.search(op) else Peer.HOST
