"""`make explain`: what a kernel asks of memory, without a GPU, line by line (docs/explain.md)."""
