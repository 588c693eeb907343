"""Priors: held-out text and clusters on long and short documents, with and without a graph."""
