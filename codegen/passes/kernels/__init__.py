"""Kernels of a program: which of them are one, what they store where, and how they are called."""
