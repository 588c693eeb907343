"""Choosing a size and a model, ranking words, marking junk: tests of what the package recommends."""
