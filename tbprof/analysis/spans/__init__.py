"""Arithmetic on intervals and groups of rows.

Nesting, layers and unions of intervals, equal rows, repeats, the confidence of means of few values.
Nothing here knows what an event means.
"""
