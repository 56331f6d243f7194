"""Arithmetic on intervals and groups of rows.

Nests, layers and unions of intervals, equal rows, repeats, how surely few values give a mean.
Nothing here knows what an event is.
"""
