"""The calls of a kernel, which the page of kernels requests for an expanded row."""
