"""Errors, units and names that every layer shares. Imports nothing else of tbprof."""
