"""`map`, `reduce` and folds: simpler faces of `scan`."""

from __future__ import annotations

from typing import Any

from symc.theano.scan_module.scan import scan


def map(
    fn: Any, sequences: Any, non_sequences: Any = None, truncate_gradient: int = -1,
    go_backwards: bool = False, mode: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """`fn` of each row."""
    return scan(fn, sequences, [], non_sequences, None, truncate_gradient, go_backwards, mode, name)


def reduce(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None,
    go_backwards: bool = False, mode: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The rest after the last row."""
    outputs, updates = scan(
        fn, sequences, outputs_info, non_sequences, go_backwards=go_backwards,
        truncate_gradient=-1, mode=mode, name=name,
    )  # fmt: skip
    if isinstance(outputs, list | tuple):
        return [each[-1] for each in outputs], updates
    return outputs[-1], updates


def foldl(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """As `reduce`, from the first row to the last."""
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name)


def foldr(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """As `reduce`, from the last row to the first."""
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name)
