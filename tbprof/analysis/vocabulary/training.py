"""Whether a program trains a model."""

from collections.abc import Iterable

from tbprof.base.lazy import regex

# Scopes of gradients. Source: xla/tsl/profiler, which recognizes training by them in TensorFlow and
# JAX.
_TRAINING = regex(r"(?:\A|/)(?:gradient_tape|gradients[^/]*|transpose\()")


def is_training(op_names: Iterable[str]) -> bool:
    """Whether any of the ops computes a gradient."""
    return any(map(_TRAINING.search, op_names))
