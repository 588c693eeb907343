"""Common parts of all models: the loop, blocks for threads, compiled kernels, progress, checks."""

__all__: list[str] = []
