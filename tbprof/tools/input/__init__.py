"""What the pages of input pipelines share: one judgement, advice, facts."""
