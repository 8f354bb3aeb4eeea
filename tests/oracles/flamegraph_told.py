# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_told.py PAGE TOTAL TEXT...: a page's boxes weigh TOTAL together, and it tells each TEXT."""
import sys

from page_driver import Page, check, finish

page = Page(sys.argv[1])
check("it is drawn", page.settled("window.flame && flame.boxes().length > 1"), page.complaints())
check("what all weighs", page.run("return flame.total()") == int(sys.argv[2]), page.run("return flame.total()"), sys.argv[2])
page.run("document.getElementById('facts').open = true")
page.mouse("canvas", 50, page.run("return document.getElementById('canvas').clientHeight") - 10)
page.settled("document.getElementById('details').textContent")
told = page.run("return document.body.innerText")
for text in sys.argv[3:]:
    check("it tells: " + text, text in told, told)
check("no error, no request", not page.complaints(), page.complaints())
page.close()
finish()
