"""A headless Chromium, driven over a pipe in the DevTools protocol: as much as the tests need."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

OPTIONS = (
    "--headless", "--no-sandbox", "--no-zygote", "--single-process", "--disable-gpu",
    "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")


def find() -> str | None:
    """The browser that SYMC_BROWSER names, or one that is installed."""
    named = os.environ.get("SYMC_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a browser of its own. `requests` has what it asked for."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="symc-browser-")
        read, ours_out = os.pipe()
        ours_in, write = os.pipe()

        def connect() -> None:  # the browser reads commands from file 3 and answers on file 4
            os.dup2(read, 203)
            os.dup2(write, 204)
            os.dup2(203, 3)
            os.dup2(204, 4)

        self._process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={self._profile}", "about:blank"],
            preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read)
        os.close(write)
        self._out = os.fdopen(ours_out, "wb", buffering=0)
        self._in = os.fdopen(ours_in, "rb")
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        pages = self.command("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.command(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()
        self._process.kill()
        self._process.wait()
        self._in.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command, and returns its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                found: dict[str, Any] = answer["result"]
                return found

    def _message(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "the browser has ended"
            text += byte
        message: dict[str, Any] = json.loads(text)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"]))
            case _:
                pass
        return message

    def open(self, path: Path) -> None:
        """Shows a file, and waits until it is loaded."""
        self.command("Page.navigate", url=path.as_uri())
        while self.value("document.readyState") != "complete":
            pass

    def value(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        """A click with the mouse."""
        for kind in ("mousePressed", "mouseReleased"):
            self.command(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )
