"""Options to run a command on a cluster."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from .messages import say

__all__ = ["cluster_options"]


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a cluster to a command, which then runs on the cluster if one is named."""

    @click.option(
        "--cluster", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler. No effect on results."
    )
    @click.option(
        "--cluster-folder",
        type=click.Path(exists=True, file_okay=False),
        help="Folder that this machine and all workers can read and write; needed if they are on other machines.",
    )
    @functools.wraps(command)
    def run(*words: Any, cluster: str | None, cluster_folder: str | None, **user_options: Any) -> Any:
        if cluster is None:
            if cluster_folder is not None:
                raise click.UsageError("--cluster-folder needs --cluster")
            return command(*words, **user_options)
        from ..engine.distributed.cluster import on_cluster

        with on_cluster(cluster, folder=cluster_folder) as workers:
            say(f"on the cluster at {cluster}: {workers.n_threads()} threads")
            return command(*words, **user_options)

    return run
