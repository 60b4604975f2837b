"""Passes for devices with thousands of threads."""
