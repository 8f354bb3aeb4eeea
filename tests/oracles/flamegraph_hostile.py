# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_hostile.py PAGE: names of a hostile recording are text wherever the page shows them."""
import sys

from selenium.webdriver.common.keys import Keys

from page_driver import Page, check, finish

page = Page(sys.argv[1])
text = lambda name: page.run("return document.getElementById(arguments[0]).textContent", name)
check("it is drawn", page.settled("window.flame && flame.boxes().length > 20"), page.complaints())
title = "</title><script>document.title=\"title\"</script>"
check("the title is text", page.driver.title == title, page.driver.title)
check("also on the page", text("title") == title, text("title"))
for split in ("pid", "tid", "cgroup", "unit", "none", "comm"):
    page.run("const e = document.getElementById('split'); e.value = arguments[0];"
             "e.dispatchEvent(new Event('change'))", split)
    page.settled(f"flame.state().split === '{split}' && flame.settled()")
boxes = page.run("return flame.boxes()")
check("each name has its box", {"__proto__", "constructor", "~!", "]]>"} <= {b["name"] for b in boxes})
evil = [b for b in boxes if "script" in b["name"] or "onerror" in b["name"] or len(b["name"]) > 1000]
check("so have those of scripts", len(evil) > 5, len(evil))
height = page.run("return document.getElementById('canvas').clientHeight")
for box in evil[:8]:
    page.mouse("canvas", box["x"] + box["width"] / 2, box["y"] + 8, click=False)
    page.settled("!document.getElementById('tip').hidden")
    page.mouse("canvas", box["x"] + box["width"] / 2, box["y"] + 8)
    page.settled("document.getElementById('details').textContent !== ''")
    page.keys("0")
    page.settled("flame.state().zoom === ''")
    page.settled(f"flame.boxes().length === {len(boxes)}")
check("they are told as text", "script" in text("details") or "x" * 500 in text("details") or
      "onerror" in text("details"), text("details"))
for way in ("!__proto__", "!</script>", "zz~zz", "!~!"):
    page.open("#zoom=" + way.replace("<", "%3C") + "&q=(((&split=nothing&view=none&range=9-1&event=77&weight=x")
    check(f"an address that means nothing: {way}", page.settled("window.flame && flame.boxes().length > 0"), page.complaints())
check("no element but ours", page.run("return document.querySelectorAll('img, script').length") == 2)
check("no error, no request", not page.complaints(), page.complaints())
check("the title is what it was", page.driver.title == title, page.driver.title)
page.close()
finish()
