"""The tf.data page: pipelines in figures, rules of advice, tables."""
