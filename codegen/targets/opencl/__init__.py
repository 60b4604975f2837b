"""OpenCL: the language as a table, platforms and their devices, and how kernels become images."""
