"""Parts of a space, computed as the engine computes them: with those that each needs."""

from typing import Any

from tbprof.analysis.hlo.hlo import Programs
from tbprof.engine.parts import PARTS
from tbprof.events.space import Space


def compute_part(name: str, space: Space) -> Any:
    """One part without choices."""
    return compute_parts(space, name)[name]


def compute_parts(space: Space, *names: str) -> dict[str, Any]:
    """By name the parts `names`, by default all of them, and those that they need."""
    programs = Programs(space)
    computed: dict[str, Any] = {}

    def compute(name: str) -> Any:
        if name not in computed:
            needed = [compute(other) for other in PARTS[name].needs]
            computed[name] = PARTS[name].compute(space, programs, *needed)
        return computed[name]

    for name in names or PARTS:
        compute(name)
    return computed
