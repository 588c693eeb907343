"""What the models that are fitted by EM share: kernels, passes over the documents, starts, and base classes."""

__all__: list[str] = []
