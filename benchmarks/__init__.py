"""topicfold beside its peers: `python -m benchmarks`. Ratios from one run, printed as one table; never shipped."""

import os

# One thread for every library, set before any of them is loaded: what is compared is the work, not the cores.
for _name in ("NUMBA", "OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
