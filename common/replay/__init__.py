"""make replay: a run of a kernel as a page on which it can be watched step by step, forward and back."""
