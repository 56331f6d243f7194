"""Where traces come from and where results are kept: discovery, opening, caching."""
