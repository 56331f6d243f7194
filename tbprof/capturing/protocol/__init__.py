"""The wire protocol: messages, channels, and calls whose responses are traces.

May import `requests`.
"""
