"""Emitters: programs of the IR printed as C and CUDA."""
