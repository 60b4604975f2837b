"""Sorting and counting."""
