# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_times.py PAGE SPOOR RECORDING: a part of the timeline is chosen, and the page has what a report has of it."""
import json
import shlex
import subprocess
import sys

from selenium.webdriver.common.keys import Keys

from page_driver import Page, check, finish

path, spoor, recording = sys.argv[1:]
page = Page(path)
text = lambda name: page.run("return document.getElementById(arguments[0]).textContent", name)


def report(*options):
    out = subprocess.run([spoor, "report", "--json", "-s", "comm", *options, recording], capture_output=True, check=True)
    return json.loads(out.stdout)


def chosen(name):
    """What the page has of its choice is what a report by its words has."""
    words = page.run("const c = document.querySelector('#range code'); return c && c.textContent")
    check(f"{name}: it says how to ask for it", words)
    if not words:
        return
    wanted = report(*shlex.split(words))
    check(f"{name}: as many samples as the report", page.run("return flame.total()") == wanted["samples"],
          words, page.run("return flame.total()"), wanted["samples"])
    rows = {row["comm"]: row["samples"] for row in wanted["rows"]}
    wrong = [b for b in page.run("return flame.boxes()") if b["depth"] == 1 and rows.get(b["name"]) != b["weight"]]
    check(f"{name}: and the same commands", not wrong, wrong[:3], rows)


check("there is a timeline", page.settled("window.flame && !document.getElementById('time').hidden"))
page.run("const e = document.getElementById('weight'); e.value = 'samples'; e.dispatchEvent(new Event('change'))")
page.settled("flame.state().weight === 'samples' && flame.settled()")
whole = page.run("return flame.total()")
width = page.run("return document.getElementById('timeline').clientWidth")
page.mouse("timeline", width * 0.3, 20, drag_to=width * 0.6)
page.settled("flame.state().range !== ''")
page.settled(f"flame.total() < {whole}")
page.settled("flame.settled()")
chosen("drag")
before = page.run("return flame.state().range")
page.run("document.getElementById('timeline').focus()")
page.keys(Keys.ARROW_RIGHT)
check("an arrow moves it", page.settled(f"flame.state().range !== '{before}'"), before)
page.settled("flame.settled()")
chosen("arrow")
here = page.driver.current_url.split("#")[1]
page.open("#" + here)
page.settled("window.flame && flame.boxes().length > 0")
page.settled("flame.settled()")
chosen("address")
page.run("document.getElementById('timeline').focus()")
page.keys(Keys.ESCAPE)
check("Escape takes all of it", page.settled(f"flame.state().range === '' && flame.total() === {whole}"),
      page.run("return [flame.state(), flame.total(), document.hasFocus(), document.activeElement.id]"), whole)
page.mouse("timeline", width * 0.5, 20)
check("a click is one column", page.settled("/^(\\d+)-(\\d+)$/.test(flame.state().range)"))
page.settled("flame.settled()")
chosen("click")
check("no error, no request", not page.complaints(), page.complaints())
page.close()
finish()
