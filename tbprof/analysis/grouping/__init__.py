"""Groups of events that belong to one step, found by cause and effect.

`grouping` runs the stages: read the graph of events, choose roots, link, grow. Steps themselves are
found in `steps`. Knows host threads and lines of TPU cores, but no phases.

A group consists of the events that a root event encloses on its thread, and of those that they
caused on other threads. Causes are read from contexts that producer and consumer share, executions
of one function, launches of programs (`causality`, `context_links`), functions passed to thread
pools (`thread_pools`), and runs on TPU cores (`tpu_groups`). Groups that the file contains are kept
(`file_groups`).
"""
