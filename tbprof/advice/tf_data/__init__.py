"""What makes a tf.data pipeline slow, and what to do about it: rules over its stages.

Rules see a `Case`: a stage that is a bottleneck, with the pipeline around it.
"""
