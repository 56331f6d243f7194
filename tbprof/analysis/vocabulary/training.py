"""Recognizes programs that train a model."""

from __future__ import annotations

from collections.abc import Iterable

from tbprof.base.lazy import regex

# Scopes of gradients. Source: xla/tsl/profiler, which recognizes training by them in TensorFlow and
# JAX.
_WORDS = ("gradient", "transpose(")
_TRAINING = regex(r"(?:\A|/)(?:gradient_tape|gradients[^/]*|transpose\()")


def is_training(op_names: Iterable[str]) -> bool:
    """Whether any of the ops computes a gradient."""
    names = list(op_names)
    joined = "\n".join(names)
    words = [word for word in _WORDS if word in joined]
    may = (name for word in words for name in names if word in name)
    return any(map(_TRAINING.search, may))
