"""A real process to share a store with, and names for the types of fixtures."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

CHILD = Path(__file__).with_name("child.py")


class Child:
    """A running child.py."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        # The checkout may be on sys.path without being installed.
        path = os.pathsep.join(item for item in sys.path if item)
        self.process = subprocess.Popen(
            [sys.executable, CHILD, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )

    def hear(self) -> object:
        """Return its next word."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the child ended with status {self.process.wait()}"
        return json.loads(line)

    def answer(self) -> dict[str, object]:
        """Return its next words, which have several parts."""
        said = self.hear()
        assert isinstance(said, dict)
        return cast("dict[str, object]", said)

    def go_on(self) -> None:
        """Let it continue."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """Wait for its end and return its status."""
        return self.process.wait()


Start = Callable[..., Child]
Make = Callable[[Path], None]
