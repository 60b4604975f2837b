"""Passes: pure functions from one `Program` to a better one with the same meaning.

In the order in which they are meant to run:

    simplify    share, hoist, inline and drop names; fold index arithmetic
    collapse    nested loops over one flat index become one loop
    fuse        neighbouring loops become one, stored values are used instead of loaded again
    simplify    once more: fusing leaves names that are unused, used once or equal
    vectorize   which innermost loops run in vector registers, which are unrolled
    parallel    which loops run on threads, and in what blocks
    memory      temporaries share one workspace

Only `parallel` must come after `vectorize`; any other order is correct, if less effective. The
helpers `walk`, `fold`, `share`, `inline`, `dependence` and `forward` are used by these files only.
"""
