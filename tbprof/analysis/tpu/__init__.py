"""What ran on TPU cores: ops by kind, phases, exchanges, programs, duty cycle."""
