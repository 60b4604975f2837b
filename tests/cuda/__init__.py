"""Tests of programs for a GPU, on the simulator where there is none."""
