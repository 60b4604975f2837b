"""The pipeline: from a request to a compiled program, found in the cache or built."""
