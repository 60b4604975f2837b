"""Failing programs made small: one part after the other is left out while the failure stays."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import replace

from tests.fuzz.protocol import Program
from tests.fuzz.workers import Outcome

SECONDS = 240.0


def shrunk(
    program: Program, outcome: Outcome, attempt: Callable[[Program], Outcome],
    seconds: float = SECONDS,
) -> tuple[Program, Outcome]:  # fmt: skip
    """The smallest program found that fails in the same way, and how it does.

    Greedy: the first smaller program that fails is taken, and its smaller programs are tried next.
    Ends when none of them fails, after `seconds`, or where a program cannot be made smaller without
    an error (it is what fails, after all); the outcome's message then ends with that error.
    """
    end = time.monotonic() + seconds
    found = True
    while found:
        found = False
        try:
            for candidate in program.smaller():
                if time.monotonic() > end:
                    return program, outcome
                result = attempt(candidate)
                if result.signature == outcome.signature:
                    program, outcome, found = candidate, result, True
                    break
        except Exception as error:
            told = "".join(traceback.format_exception(error))
            message = f"{outcome.message}\nNot made smaller than this:\n{told}"
            return program, replace(outcome, message=message)
    return program, outcome
