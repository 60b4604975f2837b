"""The version of symc; `pyproject.toml` says the same."""

VERSION = "0.1.0"
