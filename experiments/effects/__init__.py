"""Effects of metadata on topics: coverage on generated data, and the worked example of the R package stm."""
