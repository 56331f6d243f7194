"""Measurements of the trace viewer: opening, sessions of requests, frames in a browser, exports."""
