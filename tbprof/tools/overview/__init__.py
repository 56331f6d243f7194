"""The sections of the overview page."""
