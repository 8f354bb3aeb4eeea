# SPDX-License-Identifier: GPL-2.0-or-later
"""heat_page.py PAGE JSON [PICTURES]: a page of spoor heatmap, tried as a reader would.

JSON: of spoor heatmap --json with the same options. Prints lines of TAP without numbers, and last a line "command
SAMPLES COMMAND" for each selection that was made, and "row OWN LABEL" for each row: OWN is 1 where its command is
of it alone.
"""
import json
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from page_driver import Page, check, finish

path, answer = sys.argv[1], json.load(open(sys.argv[2]))
pictures = sys.argv[3] if len(sys.argv) > 3 else None
page = Page(path)

heat = lambda what, *more: page.run(f"return heat.{what}", *more)
text = lambda name: page.run("const e = document.getElementById(arguments[0]); return e.value || e.textContent", name)
event = answer["events"][0]
by_rows = answer["by"] != "all"
rows = event["rows"] if by_rows else [event["all"]]
others = event["others"] if by_rows and event["others"]["rows"] else None
commands = []


def into_view(x):
    page.run("const s = document.getElementById('stage'); s.scrollLeft = arguments[0] - 300; s.scrollTop = 0", x)


def drag(a, b, row_a=0, row_b=0):
    """From a cell to another one."""
    (x, y), (to_x, _) = heat(f"place_of({a}, {row_a})"), heat(f"place_of({b}, {row_b})")
    into_view(x)
    page.mouse("tall", x, y, drag_to=to_x)


check("it is drawn", page.settled("window.heat && heat.cells > 0"), page.complaints())
check("no error, no request", not page.complaints(), page.complaints())
check("all cells", heat("cells") == answer["columns"], heat("cells"), answer["columns"])
labels = heat("rows()")
check("all rows", len(labels) == len(rows) + (others is not None), labels)
if others:
    check("the others are a row", labels[-1] == "(%d other%s)" % (others["rows"], "s" * (others["rows"] > 1)), labels[-1])

# A cell with a part of a sample's period has a colour, one without has none.
full = max(range(len(rows[0]["samples_at"])), key=lambda i: rows[0]["period_at"][i])
check("what is hot is coloured", heat("pixel(...heat.place_of(arguments[0], 0))", full)[3] == 255)
empty = [i for i, n in enumerate(rows[-1]["samples_at"]) if n == rows[-1]["period_at"][i] == 0 and i not in answer["not_recorded"] and i > 0]
if empty:
    check("what is empty is not", heat("pixel(...heat.place_of(arguments[0], arguments[1]))", empty[0], len(rows) - 1)[3] == 0)

# By mouse: from a cell to one of the same height, so that the way is straight.
step = 1 if by_rows else 50
last = min(answer["columns"] - 1, full + 3 * step)
begin = last - 2 * step if last >= 2 * step else last % step
drag(begin, last)
state = heat("state()")
check("dragged", [state["from"], state["to"]] == [begin, last], state, begin, last)
samples = sum(rows[0]["samples_at"][begin:last + 1])
check("the selection's total", heat("totals()")["samples"] == samples, heat("totals()"), samples)
check("in words", f"{samples:,} samples" in text("totals"), text("totals"))
commands.append((samples, text("command")))
hash_before = page.run("return location.hash")

# By keys: two columns from where the mouse was.
page.run("document.getElementById('stage').focus()")
page.keys(Keys.ESCAPE)
check("Escape selects nothing", heat("state()")["from"] is None and not page.run("return document.getElementById('chosen').checkVisibility()"))
ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(Keys.SHIFT).perform()
state = heat("state()")
check("Shift and an arrow select", [state["from"], state["to"]] == [last - step, last], state)
samples = sum(rows[0]["samples_at"][last - step:last + 1])
check("with its total", heat("totals()")["samples"] == samples, heat("totals()"), samples)
commands.append((samples, text("command")))
into_view(heat("place_of(arguments[0], 0)", full)[0])
page.mouse("tall", *heat("place_of(arguments[0], 0)", full), click=False)
check("a cell tells its samples", f"{rows[0]['samples_at'][full]:,} samples" in text("tip"), text("tip"))

# Where rows have no room they are scrolled, by keys as well; the axis and the names stay.
if by_rows and len(labels) > 30:
    inside = lambda r: page.run("const s = document.getElementById('stage').getBoundingClientRect();"
                                "const t = document.getElementById('tall').getBoundingClientRect();"
                                "const y = t.top + heat.place_of(0, arguments[0])[1];"
                                "return y > s.top + 22 && y < s.bottom && s.bottom <= innerHeight;", r)
    drawn = lambda: page.run("const c = document.getElementById('canvas'), copy = document.createElement('canvas'), r = devicePixelRatio;"
                             "copy.width = c.width; copy.height = c.height;"
                             "const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(c, 0, 0);"
                             "const ink = (x, y, w, h) => pen.getImageData(x * r, y * r, w * r, h * r).data"
                             ".reduce((n, v, i) => n + (i % 4 === 3 && v > 0), 0);"
                             "return [ink(0, 24, 100, c.clientHeight - 24), ink(200, 0, c.clientWidth - 200, 16)];")
    check("the last row is below", not inside(len(labels) - 1))
    page.run("document.getElementById('stage').focus()")
    page.keys(*[Keys.ARROW_DOWN] * len(labels))
    check("arrows scroll to it", heat("state()")["at"]["row"] == len(labels) - 1 and inside(len(labels) - 1), heat("state()"))
    check("the canvas is no larger than its stage", page.run(
        "const c = document.getElementById('canvas'), s = document.getElementById('stage');"
        "return c.clientHeight <= s.clientHeight && c.getBoundingClientRect().top >= s.getBoundingClientRect().top;"))
    check("names and times are there", min(drawn()) > 0, drawn())
    x, y = heat("place_of(arguments[0], arguments[1])", 0, len(labels) - 1)
    page.mouse("tall", x, y)
    check("the mouse is in that row", heat("state()")["row"] == len(labels) - 1, heat("state()"))
    page.keys(Keys.ESCAPE)
    page.keys(*[Keys.ARROW_UP] * len(labels))
    check("and back", heat("state()")["at"]["row"] == 0 and inside(0), heat("state()"))
    page.run("document.getElementById('stage').scrollTop = 0")

before = page.run("return getComputedStyle(document.body).backgroundColor")
page.keys("t")
check("t: light or dark", page.run("return getComputedStyle(document.body).backgroundColor") != before)
page.keys("t")
page.open(hash_before)
page.settled("window.heat")
state = heat("state()")
check("its address keeps the selection", [state["from"], state["to"]] == [begin, last], state, hash_before)
# Each row: what the page says of it, and what its command is of.
owns = []
for i, row in enumerate((rows + [others] * (others is not None))[-6:] if by_rows else []):
    i += max(0, len(labels) - 6)
    page.open(f"#from=0&to={answer['columns'] - 1}&row={i}")
    page.settled("window.heat && heat.totals()")
    own = page.run("return document.getElementById('note').hidden")
    check(f"row {i}: its total", heat("totals()")["samples"] == row["samples"], heat("totals()"), row["samples"])
    commands.append((row["samples"] if own else event["all"]["samples"], text("command")))
    owns.append((own, labels[i]))
if others:
    check("the others are no command's", not owns[-1][0])
said = page.complaints()
check("still no error, no request", not said, said)
check("nothing gets to the network", page.refused() == [], page.refused())
if pictures:
    page.picture(pictures + "-light.png")
page.close()

narrow = Page(path, width=400, height=700, dark=True)
narrow.settled("window.heat")
check("400 pixels are enough", narrow.run("return document.documentElement.scrollWidth") <= 400,
      narrow.run("return document.documentElement.scrollWidth"))
check("and dark", narrow.run("return getComputedStyle(document.body).backgroundColor") != before)
check("no error there", not narrow.complaints(), narrow.complaints())
if pictures:
    narrow.picture(pictures + "-dark400.png")
narrow.close()
for samples, command in commands:
    print("command", samples, command)
for own, label in owns:
    print("row", int(own), label)
finish()
