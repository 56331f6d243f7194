"""Timelines for the trace viewer: every event of a trace on its track, at every level of detail.

A host has two timelines of one shape: `events`, what the file holds, and `derived`, what it lacks
(steps, ops, name scopes), which needs the analysis of steps. The page shows the first while the
second is built.

    Space ── build ──> tracks ── layout ──> rows ── levels ──> Timeline ── tiles ──> views
                                                                   └── search, questions

- Tracks: every event of the file is on exactly one track, or a point of a counter. TPU events
  follow the core's own clock, as on all pages.
- Rows: an event lies on the first free depth below the deepest event that encloses it, so events
  of a row never overlap. An event's id is its position by (row, start), so lookups are binary
  searches.
- Levels: at level k, neighbours shorter than 2^k ps are merged. Any level can be made of any
  finer one, and few are kept: a view costs what it shows, not what the trace holds.
- Tiles: 512 buckets of one row, about 10 bytes per entry. The address contains the version of the
  file, so browsers may keep tiles for ever.
- Searches classify unique names, then pass over the column of types once. Regular expressions run
  in linear time, since the pattern and the text are untrusted.
- Exports are made from the Space piece by piece and sent as they are made; memory does not grow
  with the trace. Building decodes lines in pieces for the same reason.
- The first view is the median step. A merged block is as dense as it is busy.
"""
