"""CUDA: the language as a table, NVRTC, and the driver that loads and launches kernels."""
