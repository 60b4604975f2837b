"""The callers of compiled functions take the same call: a `CallSpec`."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls import spec
from symc.calls.call import Caller
from symc.calls.python_call import PythonCaller
from symc.cuda.caller import CudaCaller
from symc.pipeline.library import compile_request, target


def parameters(caller: type[Any]) -> list[str]:
    """The names of a caller's positional arguments."""
    found = inspect.signature(caller).parameters.values()
    return [one.name for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("caller", [PythonCaller, CudaCaller])
def test_callers_in_python(caller: type[Any]) -> None:
    assert parameters(caller) == ["spec"]


@pytest.mark.skipif(Caller is PythonCaller, reason="symc/calls/_call.c is not built")
def test_the_caller_in_c() -> None:
    """It reads the fields in their order, and takes by name what its twin in Python takes."""
    from symc.calls import _call

    assert _call.FIELDS.split() == [*spec.FIELDS]
    names = [*inspect.signature(PythonCaller).parameters]
    for name in [*names, "no_such"]:
        given: dict[str, Any] = {"spec": None, name: None}
        with pytest.raises(TypeError) as caught:
            Caller(**given)
        assert (" keyword argument" in str(caught.value)) == (name == "no_such"), caught.value


def test_an_extension_of_other_fields_is_not_used() -> None:
    program = """if True:
        from symc.calls import _call
        _call.FIELDS = "prepare run"
        from symc.calls.call import Caller
        from symc.calls.python_call import PythonCaller
        assert Caller is PythonCaller
    """
    pytest.importorskip("symc.calls._call")
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "RuntimeWarning" in done.stderr
    assert "built from older sources of symc and is not used" in done.stderr


def test_a_call_of_a_function() -> None:
    x, n = T.fmatrix("x"), T.lscalar("n")
    s = symc.shared(np.zeros(3), name="s")
    request = symc.function([x, n], [x * n], updates=[(s, T.ones(4)[:3] + s[::-1])]).request
    made = compile_request(request, mode="default", target=target(), use=lambda made, _: made)
    found = spec.call_spec(request, made, "list", [None, None])
    assert found.inputs == ((np.dtype("f4").num, 2, None), (np.dtype("i8").num, 0, None))
    assert found.outputs == ((np.dtype("f8").num, 2, -1), (np.dtype("f8").num, 1, -1))
    assert found.rebind == ((1, s.op.cell),)
    assert found.returns == (1, "list")
    assert [*found] == [getattr(found, name) for name in spec.FIELDS]
