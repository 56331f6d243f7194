"""The page and the tree of op_profile, and what is in them."""

import json
from typing import Any

from tbprof.tools.model.tool import Document


def page(document: Document) -> Any:
    from tbprof.engine.encode import encode_document

    return json.loads(encode_document(document, (), layout="columns"))


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """The rows of a page with their texts."""
    names = (
        "program", "name", "category", "group", "scope", "source", "dtype", "roof", "cause", "note",
    )  # fmt: skip
    table = answer["rows"]
    return [
        {
            key: answer["texts"][values[place]] if key in names else values[place]
            for key, values in table.items()
        }
        for place in range(len(table["row"]))
    ]


def find(node: Any, *path: str) -> Any:
    for name in path:
        node = next(one for one in node["children"] if one["name"] == name)
    return node
