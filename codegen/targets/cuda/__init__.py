"""CUDA: the language as a table, NVRTC, and what a program's host functions need to run kernels."""
