"""Recognizes batch normalization and random numbers by the names of framework ops."""

from __future__ import annotations

import re
from enum import IntEnum

from tbprof.base.lazy import regex

_BATCH_NORM = regex(r"batch_?norm", re.IGNORECASE)
_FUSED = "FusedBatchNorm"
# Updates of the moving averages, which fused variants have as well.
_MOVING = regex(r"AssignMovingAvg|moving_(?:mean|variance)|Assign(?:Add|Sub)?Variable")

# Ops that move data between space and batch or depth.
SPACE_TYPES = frozenset(
    {
        "BatchToSpace", "BatchToSpaceND", "SpaceToBatch", "SpaceToBatchND", "DepthToSpace",
        "SpaceToDepth",
    }
)  # fmt: skip
POOL_GRADIENT_TYPES = frozenset(
    {"MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "select_and_scatter_add"}
)


class Random(IntEnum):
    """How costly a distribution is on TPUs. Source: the Cloud TPU notes on ops."""

    NONE = 0
    FAST = 1
    NORMAL = 2
    COSTLY = 3


_TYPES = (
    (Random.COSTLY, regex(
        r"(?:Stateless)?Multinomial|(?:Stateless|Stateful)?Random(?:Gamma|Poisson|Binomial)\w*"
        r"|(?:Stateless)?ParameterizedTruncatedNormal|random_gamma"
    )),
    (Random.NORMAL, regex(
        r"RandomStandardNormal|StatelessRandomNormal\w*|StatefulStandardNormal\w*"
        r"|(?:Stateless|Stateful)?TruncatedNormal\w*"
    )),
    (Random.FAST, regex(
        r"(?:Stateless)?RandomUniform\w*|Stateful(?:Uniform\w*|RandomUniform\w*)"
        r"|rng_(?:uniform|bit_generator)|random_bits|threefry2x32"
    )),
)  # fmt: skip
# The functions of jax.random are compiled separately, and their names are part of their ops' names.
_SCOPES = (
    (Random.COSTLY, regex(
        r"jit\(_(?:categorical|gumbel|multinomial|gamma|loggamma|beta|dirichlet|poisson|binomial)"
        r"(?:_\w+)?\)"
    )),
    (Random.NORMAL, regex(
        r"jit\(_(?:normal|truncated_normal|multivariate_normal)(?:_\w+)?\)"
    )),
    (Random.FAST, regex(r"jit\(_(?:uniform|bernoulli|randint|random_bits)(?:_\w+)?\)")),
)  # fmt: skip


def random_kind(name: str, type_: str) -> Random:
    """The costliest distribution that an op is part of, by its type and its scopes."""
    for kind, pattern in _TYPES[:2]:
        if pattern.fullmatch(type_):
            return kind
    for kind, pattern in _SCOPES:
        if pattern.search(name):
            return kind
    return Random.FAST if _TYPES[2][1].fullmatch(type_) else Random.NONE


def batch_norm_scope(name: str) -> str:
    """The scope of the batch normalization layer that an op belongs to, "" if there is none."""
    scopes = name.split("/")[:-1]
    for depth, scope in enumerate(scopes, 1):
        if _BATCH_NORM.search(scope):
            return "" if _FUSED in scope else "/".join(scopes[:depth])
    return ""


def is_fused_batch_norm(name: str, type_: str) -> bool:
    """Whether an op is a fused variant of batch normalization or its gradient."""
    return type_.startswith(_FUSED) or _FUSED in name


def is_moving_average(name: str) -> bool:
    """Whether an op updates the moving averages of a layer."""
    return _MOVING.search(name) is not None
