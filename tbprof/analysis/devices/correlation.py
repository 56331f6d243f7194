"""The ids that link device events to the calls that launched them."""

from __future__ import annotations

from collections.abc import Callable

from tbprof.base import names
from tbprof.events.space import Events
from tbprof.events.stats import StatColumn


def correlation_ids(
    events: Events, read: Callable[[], StatColumn] | None = None
) -> StatColumn | None:
    """The ids [n] of all events of a device, None if they have none.

    They are read once and cached; `read` returns them if they were read with other stats.
    """
    name = names.CORRELATION_ID
    if name not in events.plane.stat_names:
        return None
    read = read or (lambda: events.stats([name])[name])
    return events.plane.cache.get_or_compute("correlation ids", read)
