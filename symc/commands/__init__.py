"""The commands of ``python -m symc``, one file each.

A command has `add` (its arguments, for argparse) and `run` (its exit status: 0 for a good answer,
1 for a bad one, 2 for a question that cannot be answered).
"""
