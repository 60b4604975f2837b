"""Loops around kernels: what their steps check and hand on, and which become loops of a kernel."""
