"""C functions that generated programs paste in: plain ``.h`` files, and ``load`` to read them."""
