"""One kind of cases per file; each has a FRONT."""
