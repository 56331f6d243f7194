"""Groups: which events belong together as parts of one step, by who caused whom.

`grouping` runs the stages: read the graph of events, choose roots, link, grow. Steps themselves are
found in `steps`; knows host threads and lines of TPU cores, but no phases.
"""
