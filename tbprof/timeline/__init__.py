"""Timelines for the trace viewer: every event of a trace on its track, at every level of detail.

A host has two timelines of one form: `events`, what is in the file, and `derived`, what is computed
from it (steps, ops, name scopes), which needs the analysis of steps. The page shows the first while
the second is built.

    Space ── build ──> tracks ── layout ──> rows ── levels ──> Timeline ── tiles ──> views
                                                                   └── search, questions, calls

- Tracks: every event of the file is on exactly one track, or a point of a counter. TPU events
  follow the core's own clock, as on all pages.
- Rows: an event is on the first free depth below the deepest event that encloses it, so events
  of a row never overlap. An event's id is its position by (row, start), so lookups are binary
  searches.
- Levels: at level k, neighbours shorter than 2^k ps are merged. Any level can be derived from any
  finer one, and few are stored: the cost of a view depends on what it shows, not on the trace.
- Tiles: 512 buckets of one row, about 10 bytes per entry. The address contains the version of the
  file, so browsers may cache tiles forever.
- Searches classify unique names, then pass over the column of types once. Regular expressions run
  in linear time, since the pattern and the text are untrusted.
- Exports are made from the Space and sent piece by piece; memory does not grow
  with the trace. Building decodes lines in pieces for the same reason.
- The first view is the median step. A merged block is as dense as it is busy.
"""
