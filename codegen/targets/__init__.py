"""Targets: the languages and machines that a program can be compiled for, one file each."""
