"""Models on a graph of documents: LapPLSI, LTM and DTM."""

__all__: list[str] = []
