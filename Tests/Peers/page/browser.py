"""A real Chromium, driven over WebDriver with the standard library alone."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


def find():
    """Paths of Chromium and its driver; None where one is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    def __init__(self, paths, width, height, dark=False, mobile=False):
        browser, driver = paths
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"binary": browser, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                                f"--window-size={width},{height}"]}
        if dark:
            options["args"].append("--force-dark-mode")
        if mobile:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": True}}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        self.session = None
        for _ in range(200):
            try:
                self.session = self._call("POST", "/session", {"capabilities": capabilities})["sessionId"]
                break
            except (ConnectionError, urllib.error.URLError):
                time.sleep(0.1)
        if not self.session:
            raise RuntimeError("chromedriver did not start")
        if not mobile:
            self.cdp("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:600]) from None

    def _do(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, parameters):
        return self._do("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self._do("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self._do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, what, script, seconds=30):
        """Polls until the script returns something true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"it never happened that {what}")

    def log(self):
        """What the page's console said, errors and refusals of the content security policy among it."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._do("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path, whole=False):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.cdp("Page.captureScreenshot", parameters)["data"]))

    def close(self):
        try:
            if self.session:
                self._do("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
