"""Proof by trying that the package cannot be crashed or silently corrupted: `python -m tests.harness`.

Each front in the folder `fronts` draws cases from numbers, and a case is run in a process of its own. It ends in an
answer, in a refusal (a ValueError or OSError with one line), or in a failure, which is counted and kept in a file. A
new front is one file with a FRONT. A file in the folder `found` is a failure of earlier times, and a test.
"""
