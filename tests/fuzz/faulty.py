"""A generator whose programs crash, hang or take all memory: the campaign survives them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.fuzz.protocol import Compared, Refused, Wrong

KINDS = (
    "ok", "crash", "exit", "hang", "starved", "busy", "memory", "wrong", "error", "refused"
)  # fmt: skip


@dataclass(frozen=True)
class Faulty:
    """Has parts; fails in its way while 7 is among them. Nothing can be said of more than six."""

    kind: str
    parts: tuple[int, ...] = (7,)

    def run(self, mode: str) -> Compared:
        if 7 not in self.parts:
            return Compared(len(self.parts))
        match self.kind:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "exit":
                os.write(2, b"last words\n")
                os._exit(3)
            case "hang":
                while True:
                    time.sleep(1)
            case "starved":  # as on a machine that others keep busy
                time.sleep(0.9)
            case "busy":
                while True:
                    sum(self.parts)
            case "memory":
                held = bytearray(100 << 30)  # in one piece: refused before a page of it is touched
                raise AssertionError(f"{len(held)} bytes were there")
            case "wrong":
                raise Wrong(f"a wrong number in mode {mode}")
            case "error":
                raise KeyError(mode)
            case "refused":
                raise Refused("not today")
            case _:
                pass
        return Compared(1, 10, 2)

    def smaller(self) -> Iterator[Faulty]:
        self._look()
        for number in range(len(self.parts)):
            yield replace(self, parts=self.parts[:number] + self.parts[number + 1 :])

    def _look(self) -> None:
        if len(self.parts) > 6:
            raise ValueError("too many parts")

    def script(self, mode: str) -> str:
        self._look()
        return f"parts = {list(self.parts)}  # in mode {mode}"


class FaultyPrograms:
    """Every third program is wrong; every third, too, and cannot be made smaller."""

    name = "tests.fuzz.faulty"

    def generate(self, seed: int) -> Faulty:
        if seed % 3 == 2:
            return Faulty("wrong", (7,) * 9)
        return Faulty("wrong" if seed % 3 == 1 else "ok", (3, 7, 5))

    def modes(self, seed: int) -> tuple[str, ...]:
        return ("default", "python") if seed % 2 else ("default",)


GENERATOR = FaultyPrograms()
