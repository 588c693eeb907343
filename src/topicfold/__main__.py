"""`python -m topicfold` is the command line."""

from .cli import main

main()
