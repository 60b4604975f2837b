"""``f.report("out.html")``: everything that was made of a function, as one page.

    contents.py   the contents of the page: graphs, steps of the program, and their relation
    trace.py      the rewrites, and which of them made each node
    layout.py     where the nodes of a graph are drawn
    drawing.py    a graph as SVG, and the facts about each node
    listing.py    kernels with their source, and the user's lines
    highlight.py  colours for C
    timeline.py   the workspace of a call, and when each array lives in it
    times.py      how long compiling and calling took
    page.py       all of this together, with page.css and page.js
    markup.py     HTML

Everything that is linked is an element with an ``id``: the page works without its script, which
adds panning, zooming and showing one thing at a time. The page asks for nothing outside of itself.
"""
