"""A demonstration: two models trained on handwritten digits. Run it with ``python -m symc.demo``.

`digits.py` reads the data, `models.py` has the models in symc, `twins.py` the same in NumPy,
`training.py` runs and times both, `report.py` prints the outcome.
"""
