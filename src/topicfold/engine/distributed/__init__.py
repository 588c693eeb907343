"""Work on a Dask cluster: the side of the client, the tasks of the workers, and the files that they exchange."""

__all__: list[str] = []
