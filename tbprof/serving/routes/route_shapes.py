"""The parameters and responses of each route, in a short notation that `openapi` expands.

A shape is a JSON type: "text", "whole", "number", "flag", "any"; with "?" it may be null. A list
has items of its one shape, a dict has these keys and no others; a key with "?" may be absent, the
key "?" says that it may be null, and {"*": shape} has any keys.
"""

from __future__ import annotations

from typing import Any

Shape = str | list[Any] | dict[str, Any]

# Parameters as JSON Schema. All routes mean the same by a name, but for `id`.
PARAMETERS: dict[str, dict[str, Any]] = {
    name: {"type": "string", "maxLength": most}
    for most, names in {
        1024: (
            "tag", "host", "tqx", "eligible", "use", "launch", "copy", "version", "after",
            "category", "min_ps", "from_ps", "to_ps", "marker", "step", "steps", "graph_host",
            "input_pipeline", "rank", "memory_id", "at_ps", "start_time_ms", "end_time_ms",
            "derived", "max_gb", "module_name", "program_id", "memory_space", "program_host",
            "instant", "from_event", "to_event", "group_by", "row", "per", "feeds", "node_name",
            "type", "format", "graph_width", "merge_fusion", "show_metadata", "search",
            "first_line",
        ),
        4096: ("run", "q", "name"),
        16384: ("kernel", "op", "rows", "tracks", "sections", "counters", "opened"),
        65536: ("hosts",),
    }.items()
    for name in names
}  # fmt: skip
PARAMETERS |= {
    "table": {"type": "integer", "minimum": 0, "maximum": 9999},
    "layout": {"type": "string", "enum": ["rows", "columns"]},
    "first_row": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    "part": {"type": "string", "enum": ["events", "derived"]},
    "level": {"type": "integer", "minimum": 0, "maximum": 52},
    "from": {"type": "integer", "minimum": 0, "maximum": 2**53},
    "to": {"type": "integer", "minimum": 0, "maximum": 2**53},
    "buckets": {"type": "integer", "minimum": 1, "maximum": 4096},
    "limit": {"type": "integer", "minimum": 0, "maximum": 10_000},
    "id": {"type": "string", "maxLength": 1024},
    "by": {"type": "string", "enum": ["name", "category", "track"]},
    "order": {"type": "string", "enum": ["top_down", "bottom_up"]},
    "move": {
        "type": "string",
        "enum": [
            "next", "previous", "parent", "child", "next_same", "previous_same", "first_same",
        ],
    },
    **{name: {"type": "string", "enum": ["0", "1"]} for name in ("regex", "case", "by_track")},
}  # fmt: skip
REPEATED = frozenset({"host", "hosts"})

# The parameters of each route, required ones with "!".
_TIMELINE = "run! host part"
_VERSIONED = f"{_TIMELINE} version!"
_TILES = f"{_VERSIONED} level! from! to! rows"
_SEARCHED = "q! regex case"
_OF_TOOLS = (
    "marker step steps graph_host input_pipeline rank memory_id at_ps from_ps to_ps "
    "start_time_ms end_time_ms derived max_gb module_name program_id memory_space program_host "
    "instant from_event to_event group_by row rows per feeds node_name type format graph_width "
    "merge_fusion show_metadata opened search first_line"
)
TAKES = {
    "runs": "",
    "run_tools": "run!",
    "hosts": "run! tag!",
    "module_list": "run!",
    "data": f"run! tag! host hosts tqx table layout first_row {_OF_TOOLS}",
    "data_csv": f"run! tag! host hosts table {_OF_TOOLS}",
    "kernel_calls": "run! kernel! op launch eligible use copy host hosts",
    "event_names": "run! q! host hosts",
    "version": "",
    "config": "",
    "logdir": "",
    "session": "run",
    "progress": "run! tag!",
    "doctor": "run",
    "openapi.json": "",
    "timeline": _TIMELINE,
    "timeline_tiles": f"{_TILES} name regex case category min_ps",
    "timeline_counters": f"{_VERSIONED} level! from! to! counters",
    "timeline_busy": f"{_VERSIONED} from_ps to_ps buckets sections",
    "timeline_in_use": f"{_VERSIONED} from_ps to_ps",
    "timeline_search": f"{_VERSIONED} {_SEARCHED} limit after from_ps to_ps",
    "timeline_marks": f"{_TILES} {_SEARCHED}",
    "timeline_event": f"{_VERSIONED} id! move",
    "timeline_flows": f"{_VERSIONED} id!",
    "timeline_aggregate": f"{_VERSIONED} from_ps to_ps tracks by",
    "timeline_calls": f"{_VERSIONED} from_ps to_ps tracks order by_track",
    "captures": "id",
    "capture": "",
    "capture_cancel": "",
    "capture_test": "",
}


def _all(keys: str, shape: Shape) -> dict[str, Shape]:
    return dict.fromkeys(keys.split(), shape)


ERROR: Shape = {"error": {"code": "text", "message": "text", "hint": "text", "field?": "text"}}
_CALLS: dict[str, Shape] = {
    "calls": "whole",
    **_all("total_ps median_ps percentile_95_ps", "number?"),
}
_SPAN: dict[str, Shape] = {
    "id": "whole", "name": "text", "track": "whole", "row": "whole", "start_ps": "whole",
    "duration_ps": "whole",
}  # fmt: skip
_EVENT: Shape = {
    **_SPAN,
    "full_name": "text",
    "category": "text",
    "depth": "whole",
    "self_ps": "whole",
    "stack": [{"id": "whole", "name": "text"}],
    "step": {"label": "text", "id": "whole", "part": "text", "number": "whole", "?": ""},
    "stats": [{"key": "text", "label": "text", "value": "any", "unit": "text", "text": "text"}],
    "hlo": {"module": "text", "instruction": "text", "text": "text", "?": ""},
    "source": "text?",
    "same_name": {
        **_all("count total_ps min_ps max_ps others", "whole"),
        "mean_ps": "number",
    },
    "links": [{"tool": "text", "label": "text", "params": {"*": "text"}}],
    "?": "",
}
_CAPTURE: Shape = {
    "id": "text", "state": "text", "ahead": "whole", "elapsed_s": "number",
    "duration_ms": "whole", "delay_ms": "whole", "share": "number", "run": "text",
    "written": "whole", "workers": [{"*": "any"}],
    "error": {"message": "text", "hint": "text", "?": ""},
}  # fmt: skip

# The responses of the routes that return JSON.
ANSWERS: dict[str, Shape] = {
    "runs": ["text"],
    "run_tools": ["text"],
    "hosts": [{"hostname": "text"}],
    "data": "any",  # each tool's own
    "kernel_calls": {
        "durations": {**_CALLS, **_all("deviation_ps min_ps max_ps", "number?")},
        "histogram": {"is_logarithmic": "flag", "edges_ps": ["number"], "calls": ["whole"]},
        **_all("idle pause latency queue", _CALLS),
        "unlinked": _all("no_id no_launch early follows", "whole"),
        "streams": [
            {
                **_all("host device stream", "text"),
                "calls": "whole",
                **_all("total_ps median_ps idle_ps", "number?"),
            }
        ],
    },
    "event_names": {
        "names": [{"name": "text", "events": "whole", "hosts": "whole"}],
        "count": "whole",
        "unread": "whole",
    },
    "config": {
        "hideCaptureProfileButton": "flag",
        "srcPathPrefix": "text",
        "enableTabNameLabel": "flag",
        "version": "text",
        "pluginName": "text",
        "capture": {"off": "text", "token": "text", "logdir": "text"},
    },
    "logdir": {
        "logdir": "text",
        "scanning": "flag",
        "searched": {
            "directories": "whole", "files": "whole", "seconds": "number", "stopped": "text?"
        },
        "ignored": [{"path": "text", "reason": "text"}],
        "runs": [{"name": "text", "hosts": "whole", "bytes": "whole", "modified_ms": "number"}],
    },
    "session": {
        "run": "text",
        "hosts": [
            {
                "hostname": "text",
                "bytes": "whole",
                "modified_ms": "number",
                "error": {"code": "text", "message": "text", "hint": "text", "?": ""},
            }
        ],
        "tools": [
            {
                **_all("name label short hosts", "text"),
                "also": ["text"],
                "detail": "flag",
                "available": "flag",
                "reason": "text?",
                "hint": "text?",
            }
        ],
    },
    "progress": {
        "state": "text", "text": "text", "done": "whole", "total": "whole", "share": "number"
    },
    "doctor": [_all("kind about text fix", "text")],
    "openapi.json": {"*": "any"},
    "timeline": {
        **_all("version host part origin_ns", "text"),
        **_all("begin_ps end_ps events_in_file events unplaced max_level", "whole"
        ),
        "warnings": [{"code": "text", "message": "text", "hint": "text"}],
        "sections": [
            {
                **_all("name label kind", "text"),
                **_all("id first_track last_track events busy_ps", "whole"),
            }
        ],
        "tracks": {
            **_all("name kinds", ["text"]),
            **_all("kind rows events derived busy", ["whole"]),
            **_all("begin end", ["whole?"]),
            "unit_ps": "whole",
        },
        "counters": [
            {"id": "whole", "section": "whole", "name": "text", "unit": "text", "points": "whole"}
        ],
        "categories": [{"name": "text", "meaning": "text"}],
        "home": {"from_ps": "whole", "to_ps": "whole", "label": "text", "?": ""},
    },
    "timeline_counters": {
        "counters": {
            "*": {"time_ps": ["whole"], **_all("min max last", ["number?"])}
        }
    },
    "timeline_busy": {"sections": {"*": ["number"]}},
    "timeline_in_use": {"tracks": ["whole"], "counters": ["whole"]},
    "timeline_search": {
        "count": "whole", "types": "whole", "hits": [_SPAN], "cursor": "text",
        "tracks": {"*": "whole"}, "error": "text?",
    },
    "timeline_marks": {"rows": {"*": [["whole"]]}},
    "timeline_event": _EVENT,
    "timeline_flows": {
        "flows": [{"kind": "text", "from": _SPAN, "to": _SPAN}],
        "total": "whole",
        "is_enclosed": "flag",
    },
    "timeline_aggregate": {
        "events": "whole",
        "busy_ps": "whole",
        "idle_ps": "whole",
        "rows": {
            **_all("key category", ["text"]),
            **_all("count total_ps self_ps min_ps max_ps", ["whole"]),
            "mean_ps": ["number"],
            "share": ["number?"],
            "track?": ["whole"],
        },
    },
    "timeline_calls": {
        "overlap_ps": "whole",
        "names": {"text": ["text"], "category": ["text"], "track": ["whole"]},
        "nodes": {
            **_all("parent name count self_ps longest longest_ps", ["whole"]),
            "total_ps": ["whole?"],
        },
    },
    "captures": {"*": "any"},
    "capture": _CAPTURE,
    "capture_cancel": _CAPTURE,
    "capture_test": {
        "workers": [
            {
                **_all("address reason message fix", "text"),
                "is_tpu_name": "flag",
                "steps": [{"step": "text", "ok": "flag", "detail": "text"}],
            }
        ]
    },
}  # fmt: skip
# The others.
CONTENT = {
    "data_csv": "text/csv",
    "module_list": "text/plain",
    "version": "text/plain",
    "timeline_tiles": "application/octet-stream",
}
