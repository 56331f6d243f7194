"""XPlane files as columns: the wire format, read lazily and never trusted.

Where the format leaves a choice (each has a test in `tests/xplane/`):

- Files up to 16 MiB are held in memory; larger ones are read in windows of 512 KiB. Nothing is
  mapped: truncating a mapped file kills the process that reads it, while a missing window is
  `BadTrace`.
- XLines with the same id and name are one line: their events are merged, sorted and nested. XLines
  with the same id and different names stay separate, since some writers do not set ids.
- Fields may come in any order. Unknown fields of every wire type are skipped, at any depth.
- Times beyond ±2^57 ps (40 hours) and negative durations are clamped, with a notice.
- A file that ends inside a record is reported once, with both sizes. Pages that are empty because
  of this give it as the reason.
- Damage costs the smallest piece that contains it: a stat, an event, the rest of a line, of a
  plane, of the file. Each is a `Notice`, at most 10 of a kind per file. `BadTrace` is for files
  that cannot be read at all, and for binary files that were decoded as text (EF BF BD).
- All input is untrusted. Memory and time are bounded by the size of the file: hash tables use
  random multipliers, and planes over 4,096, XLines over 131,072 and messages over 1,000 are dropped
  with a notice.
"""
