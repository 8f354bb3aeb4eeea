# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_compared.py PAGE: a page that compares a recording with itself: nothing has grown or shrunk."""
import sys

from page_driver import Page, check, finish

page = Page(sys.argv[1])
check("it is drawn", page.settled("window.flame && flame.boxes().length > 20"), page.complaints())
summary = page.run("return document.getElementById('summary').textContent")
check("it tells with what it is compared, and the loss", "compared with compiler.spoor." in summary and " lost." in summary and
      "Of the baseline " in summary, summary)
boxes = page.run("return flame.boxes()")
wrong = [b for b in boxes if b["weight"] != b["before"]]
check("as before", not wrong, wrong[:3])
width = page.run("return document.getElementById('canvas').clientWidth")
check("the whole is as wide as the picture", abs(boxes[0]["width"] - width) < 1, boxes[0], width)
page.mouse("canvas", 50, page.run("return document.getElementById('canvas').clientHeight") - 40)
check("a box tells both", page.settled("/before .* %, after .* %: \\+0.00 points/.test(document.getElementById('details').textContent)"),
      page.run("return document.getElementById('details').textContent"))
page.keys("0")
page.settled("flame.state().zoom === '' && flame.boxes().length === %d" % len(boxes))
check("widths of before", page.settled("document.getElementById('widths_label').hidden === false"))
page.run("const e = document.getElementById('widths'); e.value = 'before'; e.dispatchEvent(new Event('change'))")
page.settled("flame.state().widths === 'before'")
check("are as wide", page.settled(f"flame.boxes().length === {len(boxes)}"), len(boxes))
splits = page.run("return [...document.getElementById('split').options].map(o => o.value)")
check("no split by what differs anyway", splits == ["none", "comm", "unit", "cgroup"], splits)
for split in splits:
    page.run("const e = document.getElementById('split'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))", split)
    page.settled(f"flame.state().split === '{split}' && flame.settled()")
    boxes = page.run("return flame.boxes()")
    wrong = [b for b in boxes if b["weight"] != b["before"]]
    check(f"split by {split}: as before", len(boxes) > 20 and not wrong, len(boxes), wrong[:3])
check("no error, no request", not page.complaints(), page.complaints())
page.close()
finish()
