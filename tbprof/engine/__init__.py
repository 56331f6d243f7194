"""Requests to payloads: which parts of which hosts, computed once, combined and encoded."""
