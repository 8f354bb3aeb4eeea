# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_page.py PAGE REPORT CHILDREN FOLDED: a page of spoor flamegraph, tried as a reader would.

REPORT: report --json -s comm, CHILDREN: report --children --json -s sym, FOLDED: export -f folded, of the same
recording. Prints lines of TAP without numbers.
"""
import collections
import json
import re
import sys

from selenium.webdriver.common.keys import Keys

from page_driver import Page, check, finish

path, report, children, folded = sys.argv[1:]
report, children = (json.load(open(f)) for f in (report, children))
page = Page(path)

boxes = lambda: page.run("return flame.boxes()")
state = lambda: page.run("return flame.state()")
text = lambda name: page.run("return document.getElementById(arguments[0]).textContent", name)
still = lambda: page.settled("flame.settled()")


def choose(name, value):
    page.run("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
             "e.dispatchEvent(new Event('change'))", name, value)
    page.settled(f"flame.state().{name} === '{value}'")
    still()


def look_for(what):
    page.run("const e = document.getElementById('search'); e.value = arguments[0];"
             "e.dispatchEvent(new Event('input'))", what)
    return text("matched")


check("it is drawn", page.settled("window.flame && flame.boxes().length > 20"), page.complaints())
check("no error, no request", not page.complaints(), page.complaints())

# --- shares ---------------------------------------------------------------------------------------
total = page.run("return flame.total()")
rows = {row["comm"]: row["overhead"] for row in report["rows"]}
commands = {b["name"]: 100 * b["weight"] / total for b in boxes() if b["depth"] == 1}
wrong = [(c, share, rows.get(c)) for c, share in commands.items() if abs(share - rows.get(c, -1)) > 0.01]
check("commands have the report's shares", commands and not wrong, wrong)
wrong = []
# The page looks for names: of strcmp(), which the kernel has as well, it has the samples of both.
rows_of = collections.Counter(row["symbol"] for row in children["rows"])
for row in children["rows"][:20]:
    name = row["symbol"]
    if not name or name.startswith("[") or rows_of[name] > 1:
        continue
    said = float(look_for("^" + re.escape(name) + "$").split()[1])
    if abs(said - row["children"]) > 0.011:
        wrong.append((name, said, row["children"]))
check("the 20 functions of report --children have its shares", not wrong, wrong)

# Every box is a path of the folded stacks with the weight that these have.
choose("weight", "samples")
paths, leaves = collections.Counter(), collections.Counter()
for line in open(folded):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    way = stack.split(";")
    for i in range(len(way) + 1):
        paths[tuple(way[:i])] += int(n)
    back = way[:0:-1]
    leaves[()] += int(n)
    for i in range(len(back) + 1):
        leaves[tuple([way[0]] + back[:i])] += int(n)


def ways():
    """Of what is drawn, the ways from below: neighbours in x, row by row."""
    by_depth = collections.defaultdict(list)
    for b in boxes():
        by_depth[b["depth"]].append(b)
    found = {}
    for depth, row in sorted(by_depth.items()):
        for b in row:
            above = next((a for a in by_depth[depth - 1] if a["x"] <= b["x"] + 0.01 and
                          b["x"] + b["width"] <= a["x"] + a["width"] + 0.01), None) if depth else None
            b["way"] = (above["way"] if above else ()) + ((b["name"].replace(";", ":"),) if depth else ())
            found[b["way"]] = b["weight"]
    return found


def same_ways(name, wanted):
    # Two frames of one name, in two objects or inlined and not, are two boxes of one way.
    found = ways()
    wrong = [(w, n, wanted[w]) for w, n in found.items() if n > wanted[w]]
    equal = sum(n == wanted[w] for w, n in found.items())
    check(name, not wrong and equal >= 0.9 * len(found), wrong[:3], (equal, len(found)))


same_ways("flame: boxes are the ways of folded stacks", paths)
choose("view", "icicle")
same_ways("icicle: the same", paths)
first = [b for b in boxes() if b["depth"] == 0][0]
check("and its root is on top", first["y"] < 10, first)
choose("view", "callers")
same_ways("callers: the ways back", leaves)
choose("order", "name")
names = [b["name"] for b in sorted(boxes(), key=lambda b: b["x"]) if b["depth"] == 1]
check("by name", names == sorted(names), names)
choose("order", "weight")
choose("view", "flame")

# --- zoom -----------------------------------------------------------------------------------------
inner = max((b for b in boxes() if b["depth"] == 2 and b["y"] > 0), key=lambda b: b["width"])
page.mouse("canvas", inner["x"] + inner["width"] / 2, inner["y"] + 8)
page.settled("flame.state().zoom !== ''")
page.settled("flame.boxes().some(b => b.depth === 2 && b.width > document.getElementById('canvas').clientWidth - 2)")
wide = [b for b in boxes() if b["depth"] == 2 and b["name"] == inner["name"]]
check("a click zooms", wide and wide[0]["width"] > 1200 and wide[0]["weight"] == inner["weight"], wide, inner)
frame = page.run("return flame.times.frame")
check("the way there is on top of it", inner["name"][:20] in text("path"), text("path"))
check("what it is stands below", "samples" in text("details") and inner["name"][:40] in text("details"), text("details"))
zoomed = page.driver.current_url
page.open("#" + zoomed.split("#")[1])
page.settled("window.flame && flame.boxes().length > 0")
check("the address keeps zoom and weight", state()["zoom"] and state()["weight"] == "samples" and
      [b for b in boxes() if b["depth"] == 2][0]["name"] == inner["name"], state())
page.keys(Keys.ESCAPE)
page.settled("flame.state().zoom.split('~').length === 1")
page.keys("0")
page.settled("flame.state().zoom === ''")
still()
check("Escape and 0 go back", state()["zoom"] == "", state())
page.keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ENTER)
page.settled("flame.state().zoom !== ''")
check("arrows and Enter zoom", len(state()["zoom"].split("~")) == 1, state())
page.driver.back()
page.settled("flame.state().zoom === ''")
check("Back goes back", state()["zoom"] == "", state())
still()
there = max((b for b in boxes() if b["depth"] == 1), key=lambda b: b["width"])
page.mouse("canvas", there["x"] + there["width"] / 2, there["y"] + 8, click=False)
check("a tip under the mouse", page.settled("!document.getElementById('tip').hidden"))

# --- search by keys -------------------------------------------------------------------------------
look_for("")
target = max((b for b in boxes() if b["depth"] > 1), key=lambda b: b["width"])
page.keys("/", re.escape(target["name"][:20]), Keys.ENTER)
check("/ and Enter lead to a match", page.settled(
    f"document.getElementById('details').textContent.includes({json.dumps(target['name'][:20])})"), text("details"))
page.keys(Keys.ESCAPE)
check("Escape ends the search", page.settled(
    "flame.state().q === '' && document.getElementById('matched').textContent === ''"), state())
look_for("(")
check("half an expression is text", "Matched" in text("matched"), text("matched"))
look_for("")

# --- splits ---------------------------------------------------------------------------------------
for split, pattern in (("none", None), ("pid", r" \d+$"), ("tid", r" \d+$"), ("cgroup", None)):
    choose("split", split)
    drawn = boxes()
    check("split by " + split, drawn[0]["weight"] == paths[()] and
          (not pattern or all(re.search(pattern, b["name"]) for b in drawn if b["depth"] == 1)), drawn[:3])
choose("split", "comm")

check("no error, no request, after all that", not page.complaints(), page.complaints())
asked = page.refused()
check("nor would the policy let a name make one", not asked, asked)
print(f"# slowest frame of a zoom {frame:.1f} ms", file=sys.stderr)
page.close()
finish()
