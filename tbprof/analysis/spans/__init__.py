"""Arithmetic on intervals and groups of rows.

Nesting, layers and unions of intervals, equal rows, repeats, and confidence intervals of means.
Nothing here knows what an event means.
"""
