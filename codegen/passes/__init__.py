"""Passes: pure functions from one `Program` to a better one with the same meaning."""
