# SPDX-License-Identifier: GPL-2.0-or-later
"""What the programs of others understand of an export, as JSON lines: thread, function, self, total, and the whole.

viewers.py speedscope PAGE SCHEMA FILE: speedscope's page in headless Chromium; the file is held against its schema first.
viewers.py firefox PROFILER FILE: Firefox Profiler's loader, by its command-line program.
Run by /usr/bin/python3: Debian's python3-selenium and python3-jsonschema.
"""
import base64
import collections
import json
import os
import re
import socket
import subprocess
import sys
import time

PATIENCE = 120  # seconds: a busy machine
ROW = r"^([\d,]+) \([^)]*\)\s+([\d,]+) \([^)]*\)\s+(.+)$"  # of speedscope's table, for Python and JavaScript


def tell(thread, samples, functions):
    """functions: (name, self, total), each as often as the program has a function of that name."""
    rows = collections.defaultdict(lambda: [0, []])
    for name, alone, total in functions:
        rows[name][0] += alone
        rows[name][1].append(total)
    print(json.dumps({"thread": thread, "samples": samples, "functions": [
        # Totals of two of one name may have the same samples.
        {"name": name, "self": alone, "total": totals[0] if len(totals) == 1 else None}
        for name, (alone, totals) in sorted(rows.items())]}))


def functions_of(profile, frames):
    """Of a profile as speedscope keeps it: sampled, or open and close events."""
    alone, total = collections.Counter(), collections.Counter()
    if profile["type"] == "sampled":
        for stack, weight in zip(profile["samples"], profile["weights"]):
            if stack:
                alone[stack[-1]] += weight
            for frame in set(stack):
                total[frame] += weight
    else:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            passed, last = event["at"] - last, event["at"]
            if stack and passed:
                alone[stack[-1]] += passed
                for frame in set(stack):
                    total[frame] += passed
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"], "unbalanced"
        assert not stack and last <= profile["endValue"]
    return [(frames[i]["name"], alone[i], total[i]) for i in total]


def number(text):
    return int(text.replace(",", ""))


def speedscope(index, schema, path):
    import jsonschema  # Debian's, as selenium is
    from page_driver import Page

    with open(path, "rb") as file:
        content = file.read()
    with open(schema) as file:
        jsonschema.Draft7Validator(json.load(file)).validate(json.loads(content))
    script = os.path.abspath(path) + ".js"
    with open(script, "w") as file:
        file.write("speedscope.loadFileFromBase64(%s, %s)" % (
            json.dumps(os.path.basename(path)), json.dumps(base64.b64encode(content).decode())))
    page = Page(index)
    try:
        page.open("#localProfilePath=" + script)
        names = [p["name"] for p in json.loads(content)["profiles"]]
        assert page.settled(f"document.body.innerText.includes({json.dumps(names[0])})", PATIENCE), \
            page.run("return document.body.innerText")[:1000]
        # What it would save is what it understood.
        page.run("const make = URL.createObjectURL; URL.createObjectURL = blob => {"
                 " blob.text().then(text => window.saved = text); return make.call(URL, blob); };"
                 "window.dispatchEvent(new KeyboardEvent('keydown', { key: 's', ctrlKey: true }));")
        saved = json.loads(page.settled("window.saved", PATIENCE) or "null")
        assert saved, "nothing is saved"
        for profile in saved["profiles"]:
            tell(profile["name"], profile["endValue"] - profile["startValue"],
                 functions_of(profile, saved["shared"]["frames"]))
        # And what a person sees: the table of functions, heaviest first.
        page.keys("3")
        # Its head is there before its rows are.
        seen = page.settled(f"document.body.innerText.includes('Symbol Name') && /{ROW}/m.test(document.body.innerText)"
                            " && document.body.innerText", PATIENCE)
        assert seen, "no table"
        rows = re.findall(ROW, seen, re.MULTILINE)
        tell("table", None, [(name, number(alone), number(total)) for total, alone, name in rows[:20]])
        severe = [e["message"] for e in page.driver.get_log("browser") if e["level"] == "SEVERE"]
        assert not severe, severe
    finally:
        page.close()


class Profiler:
    """One profile in a session of profiler-cli, which is asked over its socket: its client waits half a second for the
    start, and is a start of node for each question."""

    def __init__(self, program, path):
        directory = os.path.abspath("session")
        self.socket = os.path.join(directory, "one.sock")
        self.log = open("profiler.log", "w")
        self.process = subprocess.Popen(
            ["node", program, "--daemon", os.path.abspath(path), "--session", "one"], stdout=self.log,
            stderr=self.log, env={**os.environ, "PROFILER_CLI_SESSION_DIR": directory, "PROFILER_CLI_NO_SYMBOLICATE": "1"})
        until = time.monotonic() + PATIENCE
        while True:
            state = self.status()
            if state == "ready":
                return
            if state == "error" or self.process.poll() is not None or time.monotonic() > until:
                self.close()
                with open("profiler.log") as log:
                    raise RuntimeError("no profile is loaded: %s\n%s" % (self.answer, log.read()))
            time.sleep(0.1)

    def status(self):
        self.answer = None
        try:
            self.answer = self.send({"type": "status"})
            return self.answer["type"]
        except (FileNotFoundError, ConnectionRefusedError):
            return "starting"

    def send(self, message):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE)
            s.connect(self.socket)
            s.sendall(json.dumps(message).encode() + b"\n")
            return json.loads(s.makefile().readline())

    def ask(self, **command):
        answer = self.send({"type": "command", "command": command})
        assert answer["type"] == "success", answer
        return answer["result"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def firefox(program, path):
    profiler = Profiler(program, path)
    try:
        for thread in profiler.ask(command="thread", subcommand="list", threadListOptions={})["threads"]:
            handle = thread["threadHandle"]
            info = profiler.ask(command="thread", subcommand="info", thread=handle)
            rows = profiler.ask(command="thread", subcommand="functions", thread=handle, includeIdle=True)["functions"]
            tell(f"{thread['pid']} {thread['tid']}", info["sampleCount"],
                 [(r["name"], r["selfSamples"], r["totalSamples"]) for r in rows])
    finally:
        profiler.close()


{"speedscope": speedscope, "firefox": firefox}[sys.argv[1]](*sys.argv[2:])
