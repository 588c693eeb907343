"""`python -m topicfold` is the command line."""

from .cli.commands import main

main()
