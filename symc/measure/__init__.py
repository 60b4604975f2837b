"""Measuring functions: `symc.benchmark`, `symc.profile`, and the suite of ``python -m symc bench``.

timing.py      many times of a call, as a median and quartiles; memory at its peak
words.py       seconds and bytes as people read them; tables
benchmark.py   compiling against running, for one function, several sizes, several modes
plot.py        pictures of these
profile.py     where the time of a call goes, by steps
suite.py       symc, NumPy and whoever else is installed, on the same work
"""
