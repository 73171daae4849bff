"""A headless Chromium that a test drives by its DevTools protocol, over a pipe. Messages are JSON, with a null byte
between them."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


def find():
    """The program's path; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="page-test-")
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()
        # The browser has its pipe at 3 and 4.
        script = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", f"--user-data-dir={self.profile}", "--remote-debugging-pipe"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.to_read, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, file, width, height, dark=False):
        """Shows a file in a window of that size; the messages of its console are all that `said` tells from here on."""
        self.events = []
        self.size(width, height)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        loader = self.call("Page.navigate", url=pathlib.Path(file).resolve().as_uri())["loaderId"]
        loaded = {"name": "load", "loaderId": loader}
        while not any(loaded.items() <= event.get("params", {}).items() for event in self.events):
            self.events.append(self.message())
        self.settle()

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def settle(self):
        """Until what was drawn last is on the screen."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def said(self):
        """Messages of the console, exceptions, and what was asked of a network."""
        said = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            url = what.get("request", {}).get("url", "")
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                said.append(json.dumps(what))
            elif method == "Network.requestWillBeSent" and not url.startswith(("file:", "data:")):
                said.append(f"asks for {url}")
        return said

    def press(self, key, text=None, shift=False):
        """A key; `text`: what it writes."""
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=8 if shift else 0, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def picture(self, file, whole=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(file, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
