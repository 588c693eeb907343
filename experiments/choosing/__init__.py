"""Choosing a size and a model, ranking words, marking junk: what the package recommends, put to a test."""
