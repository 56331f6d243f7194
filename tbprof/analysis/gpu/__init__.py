"""What ran on GPUs: events by kind, phases, kernels, how busy they were."""
