"""PLSA."""

__all__: list[str] = []
