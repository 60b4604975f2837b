"""Sorting, searching in sorted arrays, counting, and quantiles: `symc.tensor` has their names."""
