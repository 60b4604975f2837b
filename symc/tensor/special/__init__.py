"""Special functions by family, with the names of `scipy.special`; `symc.tensor` has all of them.

Each file has what its functions mean in NumPy, by other formulas than the C in ``codegen/runtime``
where that costs little, their derivatives, and the C that calls it. Sections: https://dlmf.nist.gov.
"""
