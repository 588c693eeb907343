"""HLTA."""

__all__: list[str] = []
