"""SymPy both ways. (Not called sympy, which would hide SymPy from type checkers.)"""
