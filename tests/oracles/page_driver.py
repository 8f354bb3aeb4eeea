# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium that pages are tried in: what it says, what it asks of the network, and checks as TAP's diagnostics.

Debian's chromium, chromium-driver and python3-selenium; run by /usr/bin/python3, which has the latter.
A browser takes longer to start than most pages to be tried: all pages of a process are opened in one.
"""
import atexit
import http.server
import json
import os
import sys
import threading

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains


browser = None


def end_browser():
    global browser
    if browser:
        browser.quit()
    browser = None


def begin_browser():
    global browser
    options = Options()
    arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                 "--window-size=1280,800"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


atexit.register(end_browser)


class Page:
    """One page, opened from a file; the one before it has to be closed. Leaves nothing behind but what it is told to
    write."""

    def __init__(self, path, width=1280, height=800, dark=False):
        if not browser:
            begin_browser()
        self.driver = browser
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark"}] if dark else []})
        self.url = "file://" + os.path.abspath(path)
        self.open()

    def open(self, state=""):
        self.driver.get("about:blank")
        self.driver.get(self.url + state)

    def close(self):
        """What the page still said is not the next one's."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def settled(self, script, seconds=20):
        """The value of an expression, as soon as it is true; None: it never was."""
        self.driver.set_script_timeout(seconds + 10)
        return self.driver.execute_async_script(
            "const done = arguments[1], until = performance.now() + arguments[0] * 1000;"
            f"const value = () => ({script});"
            "const look = () => { const v = value(); if (v || performance.now() > until) done(v || null);"
            "else setTimeout(look, 10); }; look();", seconds)

    def keys(self, *keys):
        """A page that was just loaded may not have the browser's focus yet, without which keys are lost."""
        self.settled("document.hasFocus()")
        ActionChains(self.driver).send_keys(*keys).perform()

    def mouse(self, name, x, y, click=True, drag_to=None):
        """At x and y from the upper left corner of the element with that id; drag_to: and from there to another x."""
        bounds = self.run("const r = document.getElementById(arguments[0]).getBoundingClientRect();"
                          "return [r.left, r.top];", name)
        send = lambda kind, at, **more: self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": bounds[0] + at, "y": bounds[1] + y, **more})
        send("mouseMoved", x)
        if click:
            held = {"button": "left", "clickCount": 1}
            send("mousePressed", x, buttons=1, **held)
            if drag_to is not None:
                send("mouseMoved", (x + drag_to) / 2, button="left", buttons=1)
                send("mouseMoved", drag_to, button="left", buttons=1)
            send("mouseReleased", x if drag_to is None else drag_to, **held)

    def picture(self, path):
        self.driver.save_screenshot(path)

    def complaints(self):
        """What the console says, and requests for anything but the page itself."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if url.split("#")[0] not in (self.url, "about:blank"):
                    said.append("request: " + url)
        said += self.run("return performance.getEntriesByType('resource').map(e => 'resource: ' + e.name)")
        return said

    def refused(self):
        """What of the network a script of the page gets to: a list of URLs that a server of ours was asked for."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        self.driver.set_script_timeout(20)
        self.driver.execute_async_script(
            "const [at, done] = arguments; const image = new Image(); image.src = at + 'image';"
            "const script = document.createElement('script'); script.src = at + 'script'; document.head.append(script);"
            "const link = document.createElement('link'); link.rel = 'stylesheet'; link.href = at + 'style';"
            "document.head.append(link);"
            "fetch(at + 'fetch', { mode: 'no-cors' }).catch(() => {}).finally(() => setTimeout(done, 300));", address)
        server.shutdown()
        self.driver.get_log("browser")  # the policy has complained of all that
        return asked


failed = 0


def check(name, good, *details):
    """A TAP line of the caller's plan."""
    global failed
    print(("ok" if good else "not ok") + " - " + name)
    if not good:
        failed += 1
        for detail in details:
            print("#   " + str(detail)[:600], file=sys.stderr)
    sys.stdout.flush()


def finish():
    check("to the end", True)
    sys.exit(1 if failed else 0)
