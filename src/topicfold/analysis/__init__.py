"""Analyses with a fitted model."""

__all__: list[str] = []
