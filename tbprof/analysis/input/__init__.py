"""Input pipelines: their events, ops, iterators, and who waits for them.

tf.data records each call of an iterator as an event, with the id of the iterator and of the one
that it feeds:

    Root             |rrrrrrrrrrrrrr     python          r calls p, which waits for an element
    Prefetch         | pppppppppppp
    PrefetchConsume  |           c       element 7
    PrefetchProduce  | PPPPPPPPP         another thread  element 7: made for p
    BatchV2          | bbbbbbbb          what p waited for: p's own time is what b leaves of it

Each call was made for at most one other: the innermost one around it on its thread, the caller of
the function that it ran in, or the call that took the element that it made. So a call of a
pipeline is a tree, with self times and a critical path.

- Waiting for a thread of a pool is not work. The wait is part of the stage's self time, but the
  stage that fills the pool is responsible for it. If nothing known fills the pool, the wait stays
  with the stage that waits.
- Ids are 64 bits: signed, unsigned or text. Names replace ids that are missing.
- What began before the recording has no event. Calls below it are given to the stage that waited
  for them, and a call whose wait is for such an element has `is_cut`.
- A pipeline that a function of another one calls is part of that one.
- Circles are cut where they close, and counted. Of several iterators with one id, the first
  counts.
- The copies that `interleave` and `repeat` make of a stage are one stage for the critical path,
  the bottleneck, advice and the graph: users think of their code, not of open iterators.
"""
