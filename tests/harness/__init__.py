"""Proof by trying that the package cannot be crashed or silently corrupted: `python -m tests.harness`.

Each group makes cases from numbers, and a case is run in a process of its own. It ends in an answer, in a refusal (a
ValueError or OSError with one line), or in a failure, which is kept with its input and counted.
"""
