"""Host functions: the steps of a program as C, in the dialect of a target."""
