"""The exchanges between cores, which the pod viewer shows in addition to steps."""
