"""The cost model: what a kernel moves and computes."""
