"""symc: symbolic tensor expressions, compiled to C."""
