"""LDCC."""

__all__: list[str] = []
