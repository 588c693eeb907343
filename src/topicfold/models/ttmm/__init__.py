"""TTMM."""

__all__: list[str] = []
