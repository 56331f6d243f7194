"""The events that a filter leaves, by names, categories and how long they last."""

import numpy as np

from tbprof.base.errors import BadRequest
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.search.query import Query
from tbprof.timeline.search.search import matching_types
from tbprof.timeline.tiles.visible_events import Shown, TileFilter, choose


def show_filtered(timeline: Timeline, only: TileFilter) -> Shown:
    """The events that pass; raises BadRequest for an unknown category or a bad pattern."""
    types = timeline.types
    is_wanted = np.ones(len(types.name), np.bool_)
    if only.categories:
        known = [name for name, _ in CATEGORIES]
        for category in only.categories:
            if category not in known:
                raise BadRequest(
                    f"there is no category {category[:80]!r}", f"there are {', '.join(known)}"
                )
        chosen = np.array([name in only.categories for name in known], np.bool_)
        is_wanted &= chosen[types.category]
    if only.name:
        query = Query("name", "", only.name, only.is_regex, only.has_case)
        is_wanted &= matching_types(types, query)[:-1]
    return choose(timeline, is_wanted, max(only.min_ps, 0))
