"""LDA by leave-one-out EM."""

__all__: list[str] = []
