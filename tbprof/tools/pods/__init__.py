"""What the pod viewer is made of, beside its steps: the exchanges between cores."""
