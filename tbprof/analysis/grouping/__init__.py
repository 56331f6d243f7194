"""Groups: which events belong together as parts of one step, by who caused whom.

`grouping` runs the stages: read the graph of events, choose roots, link, grow. Steps themselves are
found in `steps`; knows host threads and lines of TPU cores, but no phases.

A group is what a root event encloses on its thread and what that caused on other threads. Causes
are read from contexts that producer and consumer share, executions of one function, launches of
programs (`causality`, `context_links`), functions handed to thread pools (`thread_pools`), and
runs on TPU cores (`tpu_groups`). Groups that the file itself contains are kept (`file_groups`).
"""
