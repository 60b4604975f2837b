"""Tests of what runs on a GPU, on the simulator where there is none."""
