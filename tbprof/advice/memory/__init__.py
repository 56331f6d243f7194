"""What to free first: rules over the peak of one allocator and over its steps."""
