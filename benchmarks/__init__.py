"""topicfold compared with other packages: `python -m benchmarks`. One run, one table; not part of the package."""

import os

# One thread for every library, set before any of them is loaded: the work is compared, not the use of cores.
for _name in ("NUMBA", "OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
