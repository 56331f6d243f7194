"""Pure computation on a space's columns: each module gives one part of a host's summary."""
