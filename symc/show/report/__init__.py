"""``f.report("out.html")``: everything that was made of a function, as one page.

    contents.py        graphs, steps of the program, and their relation
    trace.py           the rewrites, and which of them made each node
    diagram.py         the graphs as data
    correspondence.py  which lines of the C are for which nodes
    changes.py         the program before and after each pass
    texts.py           the user's lines, the C with colours, and kernels in a table
    highlight.py       colours for C
    timeline.py        the workspace of a call, and when each array lives in it
    times.py           how long compiling and calling took
    roofline.py        how near kernels come to the limits of the machine
    bundle.py          what the page's script draws from, packed
    page.py            all of this together, with page/*.css and page/*.js
    markup.py          HTML
    summary.py         a function as notebooks show it

Graphs are laid out by dagre (dagre/, under its own licence), in the browser. Everything that is
linked is an element or a node with a name, which stands in the address. The page asks for nothing
outside of itself; without its script it still has the texts and tables, but no graph, no assembly
and no links between them.
"""
