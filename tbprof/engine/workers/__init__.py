"""Where the parts of hosts are computed, other than in threads of the engine."""
