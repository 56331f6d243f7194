"""What the pages of input pipelines share: one diagnosis, advice, facts."""
