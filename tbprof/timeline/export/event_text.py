"""The text of events in Chrome trace JSON, and replacements for numbers that JSON lacks.

    {"args":{…},"name":"…","ph":"X","pid":1,"tid":7,"ts":12.5,"dur":3,"bind_id":"0x2a","flow_in":true}

Source: the document "Trace Event Format" of Chromium, and what the importers of Perfetto
(json_trace_parser_impl.cc) and chrome://tracing (trace_event_importer.html) interpret it.
"""

from __future__ import annotations

from tbprof.kernels.codes import FLOW_CATEGORIES
from tbprof.timeline.export.json_text import joined

# Replaces the index of a double's text if JSON has no number for it.
NAN, INFINITE, NEGATIVE_INFINITE = -1, -2, -3

# Source: xla/tsl/profiler/utils/context_types.cc; generic and legacy contexts have no name.
_CONTEXTS = {2: "tf_exec", 3: "tfrt_exec", 4: "batch_sched", 5: "PjRt", 6: "as_batch_sched",
             7: "tfrt_rt", 8: "tpu_embed", 9: "gpu_launch", 10: "batcher", 11: "tpu_stream",
             12: "tpu_launch", 13: "pathways_exec", 14: "pjrt_library_call",
             15: "threadpool_event", 16: "jax_serving_exec"}  # fmt: skip
# By the numbers `SAY_…` of kernels/codes.py; for doubles that are not numbers, by the negative ones
# that stand for them.
WORDS = joined([
    b',\n{"args":{', b',\n{"name":', b'"name":', b'},"name":', b',"ph":"X",',
    b',"ph":"i","s":"t",', b',"ph":"C","cat":"counter",', b',"ph":"b",', b',"ph":"e",',
    b',"dur":', b',"bind_id":', b',"id":', b"", b',"flow_in":true', b',"flow_out":true',
    b',"flow_in":true,"flow_out":true', b'"<', b' bytes>"',
    *(
        f',"cat":"{_CONTEXTS[kind]}"'.encode() if kind in _CONTEXTS else b""
        for kind in range(FLOW_CATEGORIES)
    ),
    b',"cat":"async"', b'"-Infinity"', b'"Infinity"', b'"NaN"',
])  # fmt: skip
