"""Which types of events pass a filter, by names and categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.store import TypeTable
from tbprof.timeline.search.query import Query
from tbprof.timeline.search.search import matching_types
from tbprof.timeline.tiles.visible_events import TileFilter


def passing_types(types: TypeTable, only: TileFilter) -> NDArray[np.bool_]:
    """[types] which pass; raises BadRequest for an unknown category or a bad pattern."""
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
    return is_wanted
