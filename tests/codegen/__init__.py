"""Tests of the loop IR and of what is done with it."""
