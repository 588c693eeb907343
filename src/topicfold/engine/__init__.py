"""What every model runs on: the loop, blocks for threads, compiled kernels, progress, checks."""

__all__: list[str] = []
