"""What tests start, and stop again: servers, profilers, workers, clusters, programs that train."""
