"""Scheduling: from a graph to the kernels that compute it, in order, as plain data."""
