"""What is asked about events: details, flows, sums over a range."""
