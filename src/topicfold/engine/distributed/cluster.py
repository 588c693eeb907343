"""Passes over blocks on a Dask cluster, with the same bits as on one machine.

A task is a function that can be imported, and the locations of its arrays; it reads them from files that all workers
can read, and returns its results. Nothing is kept on a worker: any worker can do any task, and a task whose worker dies
is done again. Rows of documents that a step updates are in files with the number of the step in their name; sums are
added in the same tree as in one process.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ...errors import ServiceError
from ..blocks import each_block
from ..extras import import_extra
from ..machine import is_running
from ..warn import warn_user
from .array_files import ArrayFile, EvenArray, changed_items, read_rows, stored_place, write_array, write_rows
from .tasks import add_up, environment, run_items, run_sum, tokens_seen

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as AnyFuture

    Future: TypeAlias = AnyFuture[Any]

__all__ = [
    "Cluster",
    "StaticArray",
    "current_cluster",
    "gather",
    "in_memory",
    "map_anywhere",
    "on_cluster",
    "static",
    "warn_local_only",
]

_SMALL = 1 << 16  # arrays up to this many bytes are sent with the task
_TASKS_PER_THREAD = 4
_FEWEST_TASKS = 16  # so that there is work for a worker that joins late
_PATIENCE = 60.0  # maximum number of seconds without any worker
_CONNECTING = 10.0  # maximum number of seconds to wait for a scheduler
_PREFIX = ".topicfold-cluster"
Result = TypeVar("Result")
_current: ContextVar[Cluster | None] = ContextVar("topicfold_cluster", default=None)


def current_cluster() -> Cluster | None:
    """The cluster that runs passes over blocks, if any."""
    return _current.get()


@contextmanager
def on_cluster(client: Client | str, *, folder: str | Path | None = None) -> Iterator[Cluster]:
    """Run fits, and all other work on blocks of documents, on a Dask cluster.

    Use it as a context manager. Results have the same bits as on one machine if all machines have the same kind of CPU
    and the same library versions.

    Parameters
    ----------
    client : distributed.Client or str
        A client of the cluster, or the address of its scheduler.
    folder : str, Path or None, default=None
        Folder that this machine and all workers can read and write; arrays are exchanged as files in it. None uses the
        folder for temporary files, which works if all workers are on this machine. A corpus on disk is not copied; all
        workers must be able to read its file.

    Yields
    ------
    Cluster
        The cluster, within the context.

    Raises
    ------
    ServiceError
        If there is no scheduler or no worker, or a worker has another version of topicfold or cannot access the folder.

    See Also
    --------
    Corpus.read : Reads a corpus that is too large for memory, with `on_disk`.
    LDA : A model that scales to millions of documents.

    Examples
    --------
    ::

        from distributed import Client
        import topicfold

        with Client("tcp://scheduler:8786") as client, topicfold.on_cluster(client, folder="/shared/tmp"):
            model = topicfold.LDA(n_topics=100, random_state=0).fit(corpus)
    """
    distributed = import_extra("distributed", "dask", "on_cluster")
    own_client = None
    if isinstance(client, str):
        client = own_client = _connected(distributed, client)
    try:
        cluster = Cluster(client, Path(tempfile.gettempdir()) if folder is None else Path(folder))
        token = _current.set(cluster)
        try:
            yield cluster
        finally:
            _current.reset(token)
            cluster.close()
    finally:
        if own_client is not None:
            own_client.close()  # type: ignore[no-untyped-call]


def _connected(distributed: Any, address: str) -> Client:
    try:
        return distributed.Client(address, timeout=_CONNECTING, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ServiceError(f"no Dask scheduler answers at {address!r}: {reason or type(error).__name__}") from None


class StaticArray:
    """An array that does not change: on a cluster, it is written to a file only once, not for every pass."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


class Cluster:
    """A cluster in use; see `on_cluster`."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.address = client, client.scheduler.address if client.scheduler else "?"
        self._version = version("topicfold")
        _remove_left_over(folder)
        name = f"{_PREFIX}-{socket.gethostname()}-{os.getpid()}-"
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=name, dir=folder))
        except OSError as error:
            raise ServiceError(f"cannot write to the folder {folder}: {error.strerror or error}") from None
        self._rows: dict[int, DocumentRows] = {}
        self._static_files: dict[int, ArrayFile] = {}
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove all files; workers keep nothing."""
        self._rows.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_path(self) -> Path:
        """A path that no other file has."""
        return self.folder / uuid.uuid4().hex

    def n_threads(self) -> int:
        """Number of threads of all current workers."""
        return max(1, sum(self._workers().values()))

    def _workers(self) -> dict[str, int]:
        """The number of threads of each worker."""
        return dict(self.client.nthreads())  # type: ignore[no-untyped-call]

    # ---- passes -----------------------------------------------------------------------------------------------------

    def map(self, function: Callable[..., Any], shared: tuple[Any, ...], items: Iterable[Any]) -> Iterator[Any]:
        """The results of `function(*shared, item)`, in the order of the items; their arrays are also sent as files."""
        items = items if isinstance(items, Sequence) else list(items)
        n_tasks = min(len(items), max(_FEWEST_TASKS, _TASKS_PER_THREAD * self.n_threads()))
        cuts = np.linspace(0, len(items), n_tasks + 1).astype(int).tolist()
        with self._sent(shared) as (sent, refer):
            futures = deque(
                self._submit(run_items, function, sent, [refer(item) for item in items[first:last]])
                for first, last in pairwise(cuts)
            )
            while futures:  # a result without references is freed on the worker
                yield from self._result(futures.popleft())

    def sum_over(
        self,
        function: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[Any],
        shape: tuple[int, int],
        dtype: Any,
    ) -> tuple[list[Any], np.ndarray]:
        """The results of `function(*shared, item, table)`, which adds to a table of zeros, and the sum of tables."""
        size, n_threads = 1, self.n_threads()  # `size` is a power of two, so that a task is a branch of the tree
        while len(items) / (2 * size) >= 2 * n_threads and size < 8:
            size *= 2
        with self._sent(shared) as (sent, _):
            nodes = [
                self._submit(run_sum, function, sent, items[first : first + size], shape, np.dtype(dtype).str)
                for first in range(0, len(items), size)
            ]
            while len(nodes) > 1:
                pairs = [nodes[first : first + 2] for first in range(0, len(nodes), 2)]
                nodes = [self._submit_plain(add_up, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
            results, total = self._result(nodes[0])
        return results, total

    def _submit(self, run: Callable[..., Any], *arguments: Any) -> Future:
        return self._submit_plain(run, self._version, *arguments)

    def _submit_plain(self, run: Callable[..., Any], *arguments: Any) -> Future:
        return self.client.submit(run, *arguments, key=f"topicfold-{run.__name__}-{uuid.uuid4().hex}", pure=False)

    def _result(self, future: Future) -> Any:
        from distributed import CancelledError, KilledWorker

        while True:
            try:
                return future.result(timeout=_PATIENCE)
            except TimeoutError:
                if not self._workers():
                    raise ServiceError(
                        f"the cluster at {self.address} has had no worker for {_PATIENCE:.0f} seconds"
                    ) from None
            except KilledWorker:
                raise ServiceError(
                    f"workers of the cluster at {self.address} died repeatedly on one task, perhaps for lack of memory"
                ) from None
            except CancelledError:
                raise ServiceError(
                    f"the connection to the cluster at {self.address} was lost; a fit with a checkpoint can be resumed"
                ) from None

    @contextmanager
    def _sent(self, shared: tuple[Any, ...]) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
        """The input of a pass, with arrays replaced by files, which are removed when the pass is over."""
        written: list[str] = []

        def refer(value: Any) -> Any:
            if isinstance(value, StaticArray):
                return self.file_of(value) if value.array.nbytes > _SMALL else value.array
            if isinstance(value, np.ndarray) and value.size and not any(value.strides):
                return EvenArray(value.flat[0], value.shape)
            if isinstance(value, np.ndarray) and value.nbytes > _SMALL:
                file = stored_place(value)
                if file is None:
                    file = write_array(self.new_path(), value)
                    written.append(file.path)
                return file
            return changed_items(refer, value)

        try:
            yield refer(shared), refer
        finally:
            for path in written:
                _remove(path)

    def file_of(self, static: StaticArray) -> ArrayFile:
        """The file of an array that does not change; it is removed together with the array."""
        key = id(static.array)
        if key not in self._static_files:
            file = stored_place(static.array)
            if file is None:
                file = write_array(self.new_path(), static.array)
            self._static_files[key] = file
            weakref.finalize(static.array, self._forget, key)
        return self._static_files[key]

    def _forget(self, key: int) -> None:
        file = self._static_files.pop(key)
        if Path(file.path).parent == self.folder:
            _remove(file.path)

    # ---- rows of documents ------------------------------------------------------------------------------------------

    def rows_of(self, table: np.ndarray, groups: Sequence[tuple[int, int]]) -> DocumentRows:
        """The rows of a table, in one file per group; those of the last pass if the table is already known."""
        rows = self._rows.get(table.ctypes.data)
        if rows is None or rows.table.shape != table.shape or rows.groups != list(groups):
            rows = self._rows[table.ctypes.data] = DocumentRows(self, table, list(groups))
        return rows

    def gather(self, table: np.ndarray, *, forget: bool) -> None:
        """Update a table with the rows that workers have changed."""
        rows = self._rows.get(table.ctypes.data)
        if rows is not None:
            rows.gather()
            if forget:
                del self._rows[table.ctypes.data]
                rows.remove()

    # ---- workers ----------------------------------------------------------------------------------------------------

    def _check_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_PATIENCE / 2)
        except TimeoutError:
            raise ServiceError(f"the cluster at {self.address} has no workers: start some, then try again") from None
        token = uuid.uuid4().hex
        (self.folder / "token").write_text(token, encoding="ascii", newline="\n")
        environments = self.client.run(environment, on_error="return")
        tokens = self.client.run(tokens_seen, str(self.folder / "token"), on_error="return")
        ours = environment()
        for worker, theirs in environments.items():
            if isinstance(theirs, BaseException):
                reason = " ".join(str(theirs).split())[:200]
                raise ServiceError(f"the worker {worker} cannot load topicfold: {reason}")
            if theirs["topicfold"] != ours["topicfold"]:
                raise ServiceError(
                    f"the worker {worker} has topicfold {theirs['topicfold']}, this machine {ours['topicfold']}: "
                    "install the same version everywhere"
                )
            if tokens[worker] != token:
                raise ServiceError(
                    f"the worker {worker} cannot access the folder {self.folder.parent}: choose one that this machine "
                    "and all workers can read and write, on_cluster(client, folder=...) or --cluster-folder"
                )
        others = {package for theirs in environments.values() for package in ours if theirs[package] != ours[package]}
        if others:
            warn_user(f"workers differ from this machine in {', '.join(sorted(others))}: the last bits may differ")


class DocumentRows:
    """The rows of a table of documents in files, one per group of rows and step."""

    def __init__(self, cluster: Cluster, table: np.ndarray, groups: list[tuple[int, int]]) -> None:
        self.table, self.groups = table, groups
        self._name, self._step = cluster.new_path(), 0
        for number, (first, last) in enumerate(groups):
            write_rows(self.path(number), table[first:last])

    def path(self, group: int, after: int = 0) -> str:
        """The file of the rows of a group now, or after the current step."""
        return f"{self._name}-{self._step + after}-{group}"

    def advance(self) -> None:
        """Mark the step as done: the next step starts from its rows."""
        before = [self.path(number) for number in range(len(self.groups))]
        self._step += 1
        for path in before:
            _remove(path)

    def gather(self) -> None:
        """Read all rows into the table."""
        for number, (first, last) in enumerate(self.groups):
            read_rows(self.path(number), self.table[first:last])

    def remove(self) -> None:
        """Remove the files."""
        for number in range(len(self.groups)):
            _remove(self.path(number))


def map_anywhere(
    function: Callable[..., Result], shared: tuple[Any, ...], items: Iterable[Any], n_jobs: int | None
) -> Iterator[Result]:
    """The results of `function(*shared, item)`, in the order of the items: in threads here, or on a cluster.

    It must be possible to import the function; its input is in `shared`: numbers, arrays, and (named) tuples of them.
    """
    items, cluster = list(items), current_cluster()
    if cluster is not None and len(items) > 1:
        return cluster.map(function, shared, items)
    arguments = in_memory(shared)
    return each_block(lambda item: function(*arguments, item), items, n_jobs)


def warn_local_only(message: str) -> None:
    """If there is a cluster, warn that work is done on this machine: distributing it would change the last bits."""
    if current_cluster() is not None:
        warn_user(f"{message}, not on the cluster")


def in_memory(value: Any) -> Any:
    """The value with `StaticArray` arrays replaced by plain arrays, also within tuples."""
    if isinstance(value, StaticArray):
        return value.array
    return changed_items(in_memory, value)


def static(value: Result) -> Result:
    """The value with its arrays as `StaticArray`, also within tuples, for `in_memory` and workers to take back."""
    return StaticArray(value) if isinstance(value, np.ndarray) else changed_items(static, value)  # type: ignore[return-value]


def gather(tables: Sequence[np.ndarray], *, forget: bool = False) -> None:
    """Update tables of documents with the rows that workers have changed; does nothing without a cluster."""
    cluster = current_cluster()
    if cluster is not None:
        for table in tables:
            cluster.gather(table, forget=forget)


def _remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def _remove_left_over(folder: Path) -> None:
    """Remove the files of processes of this machine that were killed."""
    for leftover in folder.glob(f"{_PREFIX}-{socket.gethostname()}-*"):
        number = leftover.name.removeprefix(f"{_PREFIX}-{socket.gethostname()}-").partition("-")[0]
        if number.isdecimal() and not is_running(int(number)):
            shutil.rmtree(leftover, ignore_errors=True)
