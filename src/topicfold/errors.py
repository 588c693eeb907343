"""The errors of topicfold, so that a caller can tell bad input from a bug.

    TopicfoldError
    ├── InputError(ValueError)            a value, a parameter or documents that cannot be used
    ├── FileError(ValueError, OSError)    a file that is missing, damaged or cannot be written
    ├── MissingExtraError(ImportError)    an optional package that is not installed
    └── ServiceError(OSError)             a cluster or another service that does not do its part

Their messages are one line: the value, what was expected, what to do. Any other exception that leaves topicfold is a
bug, or comes from the system (such as a full disk).
"""

from __future__ import annotations

__all__ = ["FileError", "InputError", "MissingExtraError", "ServiceError", "TopicfoldError"]


class TopicfoldError(Exception):
    """Base class of all errors that topicfold raises on purpose.

    See Also
    --------
    InputError : A value, a parameter or documents that cannot be used.
    FileError : A file that cannot be used.
    MissingExtraError : An optional package that is not installed.
    ServiceError : A cluster or another service that does not do its part.

    Examples
    --------
    >>> from topicfold import LDA, TopicfoldError
    >>> try:
    ...     LDA(n_topics=0).fit(["cat dog", "sun moon"])
    ... except TopicfoldError as error:
    ...     print(error)
    n_topics=0: expected a whole number, at least 1, or 'auto'
    """


class InputError(TopicfoldError, ValueError):
    """Raised if a value, a parameter or documents cannot be used; a ValueError too.

    See Also
    --------
    TopicfoldError : Base class of all errors of topicfold.

    Examples
    --------
    >>> from topicfold import InputError
    >>> issubclass(InputError, ValueError)
    True
    """


class FileError(TopicfoldError, ValueError, OSError):
    """Raised if a file is missing, damaged, of another kind, or cannot be written; a ValueError and an OSError too.

    See Also
    --------
    TopicfoldError : Base class of all errors of topicfold.

    Examples
    --------
    >>> from topicfold import FileError, load
    >>> try:
    ...     load("no-such-model.safetensors")
    ... except FileError as error:
    ...     print(error)
    no such file: no-such-model.safetensors
    """


class MissingExtraError(TopicfoldError, ImportError):
    """Raised if an optional package is not installed; the message names the extra. An ImportError too.

    See Also
    --------
    TopicfoldError : Base class of all errors of topicfold.

    Examples
    --------
    >>> from topicfold import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class ServiceError(TopicfoldError, OSError):
    """Raised if a cluster or another service does not do its part; an OSError too.

    For example, a cluster has no workers, or a worker has another version or cannot read a path.

    See Also
    --------
    TopicfoldError : Base class of all errors of topicfold.
    on_cluster : Runs fits on a cluster.

    Examples
    --------
    >>> from topicfold import ServiceError
    >>> issubclass(ServiceError, OSError)
    True
    """
