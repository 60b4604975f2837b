"""Tests of the loop IR: meaning, passes, emitters, targets."""
