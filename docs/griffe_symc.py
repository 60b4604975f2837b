"""For the site, what griffe cannot see in the source: functions made by others, and examples.

Functions such as ``sin = elementwise("sin", ...)`` are shown with the docstring and arguments that
they have when symc is imported. Examples in docstrings become blocks of code.
"""

from __future__ import annotations

import importlib
import inspect
import re
from types import FunctionType
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*\n?(?:^(?!\s*$).*\n?)*", re.MULTILINE)
DIRECTIVE = re.compile(r"[ \t]*# doctest:.*")


class Symc(griffe.Extension):
    """Completes modules, and puts a fence around each example."""

    def on_module(self, *, mod: griffe.Module, **_: Any) -> None:
        """Replaces what is assigned and is a function by that function."""
        assigned = [m for m in mod.members.values() if isinstance(m, griffe.Attribute)]
        unknown = [member for member in assigned if not member.docstring]
        if not unknown or not mod.path.startswith("symc.tensor"):
            return
        module = importlib.import_module(mod.path)
        for member in unknown:
            value = getattr(module, member.name, None)
            if isinstance(value, FunctionType) and value.__doc__:
                mod.set_member(member.name, _function(member.name, value, member.lineno))

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of what griffe has found."""
        if obj.docstring is not None:
            obj.docstring.value = _with_fences(obj.docstring.value)


def _function(name: str, value: FunctionType, line: int | None) -> griffe.Function:
    parameters = [
        griffe.Parameter(p.name, kind=getattr(griffe.ParameterKind, p.kind.name.lower()))
        for p in inspect.signature(value).parameters.values()
    ]
    docstring = griffe.Docstring(_with_fences(inspect.getdoc(value) or ""))
    made = griffe.Function(
        name, parameters=griffe.Parameters(*parameters), docstring=docstring, lineno=line
    )
    docstring.parent = made
    return made


def _with_fences(text: str) -> str:
    return EXAMPLE.sub(_fenced, text)


def _fenced(example: re.Match[str]) -> str:
    return f"```pycon\n{DIRECTIVE.sub('', example[0]).rstrip()}\n```\n"
