"""Loops in kernels: which of them are one, in which order they go, on which threads."""
