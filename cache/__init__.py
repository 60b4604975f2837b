"""Bytes kept between runs: a disk cache that many processes share.

It knows neither tensors nor C. `key.py` names contents, `store.py` finds or makes them.
"""

# Imported by another name (a bare `import cache` from a checkout), every class would exist twice.
if __name__ != "symc.cache":
    msg = f"this package is symc.cache; it was imported as {__name__!r}"
    raise ImportError(msg)
