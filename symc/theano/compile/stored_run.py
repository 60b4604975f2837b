"""What Theano calls ``f.fn``: a function run on the values that its containers hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.theano.compile.function import Function


class StoredRun:
    """Runs a function without arguments, and keeps the outputs in its `output_storage`.

    Programs put values into ``f.input_storage``, or have shared variables only; of `n_calls` runs
    the outputs of the last are kept. Other attributes are those of the compiled function.
    """

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, n_calls: int = 1, output_subset: Any = None) -> list[Any]:
        """The outputs of the last run, in a list."""
        results: list[Any] = []
        for _ in range(n_calls):
            results = self.function.run_stored()
        for container, result in zip(self.function.output_storage, results, strict=False):
            container.storage[0] = result
        return results if output_subset is None else [results[each] for each in output_subset]

    @property
    def storage_map(self) -> dict[Any, Any]:
        """For each input and shared variable the list, of one item, that has its value."""
        function = self.function
        pairs = zip(function.definition.ins, function.input_storage, strict=True)
        found = {each.variable: container.storage for each, container in pairs}
        return found | {each: each.container.storage for each in function.get_shared()}

    def __getattr__(self, name: str) -> Any:
        if name == "function":  # not there yet, while a copy of it is made
            raise AttributeError(name)
        return getattr(self.function.symc_function, name)
