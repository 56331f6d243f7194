"""Questions about events: details, flows, sums over a range."""
