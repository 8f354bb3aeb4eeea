# SPDX-License-Identifier: GPL-2.0-or-later
"""page_tries.py SCRIPT NAME...: SCRIPT NAME.html NAME.json for each, in one browser; what it prints is in NAME.checks."""
import contextlib
import runpy
import sys
import traceback

import page_driver

script, *names = sys.argv[1:]
status = 0
for name in names:
    page_driver.failed = 0
    sys.argv = [script, name + ".html", name + ".json"]
    with open(name + ".checks", "w") as out, contextlib.redirect_stdout(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            status |= bool(end.code)
        except Exception:  # of the browser, or of what it was asked: the next page has a new one
            print(name, file=sys.stderr)
            traceback.print_exc()
            status = 1
            with contextlib.suppress(Exception):
                page_driver.end_browser()
            page_driver.browser = None
sys.exit(status)
