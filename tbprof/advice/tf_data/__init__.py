"""Diagnoses of tf.data pipelines: their bottlenecks, and advice by rules over their stages.

The input of a rule is a `Case`: a stage that is a bottleneck, and the pipeline around it.
"""
