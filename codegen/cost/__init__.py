"""The cost model: bytes that a kernel moves, and operations that it does."""
