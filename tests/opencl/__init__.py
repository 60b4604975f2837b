"""OpenCL: the text of kernels, and programs on the devices that are here."""
