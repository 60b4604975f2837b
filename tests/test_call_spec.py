"""The callers of compiled functions take the same call: each the fields of `CallSpec` in order."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls import call, spec
from symc.calls.call import PythonCaller
from symc.cuda.caller import CudaCaller
from symc.pipeline.library import compile_request, target

SOURCE = Path(call.__file__).with_name("_caller.c")


def parameters(caller: type[Any]) -> list[str]:
    """The names of a caller's positional arguments."""
    found = inspect.signature(caller).parameters.values()
    return [one.name for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("caller", [PythonCaller, CudaCaller])
def test_callers_in_python(caller: type[Any]) -> None:
    assert parameters(caller) == [*spec.FIELDS]


def test_the_caller_in_c() -> None:
    """It also takes by name exactly the options of its twin in Python."""
    text = SOURCE.read_text(encoding="utf-8")
    names = re.search(r"static char \*names\[\] = \{(.*?)\};", text, re.DOTALL)
    assert names is not None
    found = re.findall(r'"(\w+)"', names[1])
    every = inspect.signature(PythonCaller).parameters
    assert found == [*every]
    assert found[: len(spec.FIELDS)] == [*spec.FIELDS]


def test_a_call_of_a_function() -> None:
    x, n = T.fmatrix("x"), T.lscalar("n")
    s = symc.shared(np.zeros(3), name="s")
    request = symc.function([x, n], [x * n], updates=[(s, T.ones(4)[:3] + s[::-1])]).request
    made = compile_request(request, mode="default", target=target(), use=lambda made, _: made)
    found = spec.call_spec(request, made, "list", [None, None])
    assert found.inputs == ((np.dtype("f4").num, 2, None), (np.dtype("i8").num, 0, None))
    assert found.outputs == ((np.dtype("f8").num, 2), (np.dtype("f8").num, 1))
    assert found.rebind == ((1, s.op.cell),)
    assert found.returns == (1, "list")
    assert [*found] == [getattr(found, name) for name in spec.FIELDS]
