"""Graphs and functions shown to people: LaTeX, and the report as a page."""
