# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions with callers and callees: of pprof -peek (text), and of spoor peek --json: peek.py TEXT JSON.

For pprof functions of one name are one, and what has no name is called by its address: of those, and where they
are callers or callees, nothing is compared. pprof calls a function without a name by its object, as in
[readelf], which an expression may match, and spoor has no such name."""
import json
import re
import sys


def of_pprof(path):
    functions = {}
    for block in re.split(r"(?m)^-+\+-+\n", open(path, errors="surrogateescape").read()):
        function, callers, callees = None, [], []
        for line in block.splitlines():
            own = re.match(r" +(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% +\| (.*)$", line)
            call = re.match(r" +(\d+) +[\d.]+% \|   (.*)$", line)
            if own:
                function = own.group(3), int(own.group(1)), int(own.group(2))
            elif call:
                (callees if function else callers).append((call.group(2), int(call.group(1))))
        if function:
            functions[function[0]] = [(*function[1:], sorted(callers), sorted(callees))]
    return functions


def of_spoor(path):
    functions = {}
    for f in json.load(open(path))[0]["functions"]:
        calls = [sorted((c["name"], c["samples"]) for c in f[key]) for key in ("callers", "callees")]
        functions.setdefault(f["name"], []).append((f["self_samples"], f["samples"], *calls))
    return functions


def nameless(name):
    return name.startswith(("[", "0x"))


def clear(functions):
    names = [[name for name, _ in calls] for f in functions for calls in f[2:]]
    return len(functions) == 1 and not any(
        len(set(calls)) < len(calls) or any(map(nameless, calls)) for calls in names)


pprof, spoor = of_pprof(sys.argv[1]), of_spoor(sys.argv[2])
wrong = n = 0
for name in sorted(set(pprof) | set(spoor)):
    if nameless(name):
        continue
    one, other = pprof.get(name, []), spoor.get(name, [])
    if (one and not clear(one)) or (other and not clear(other)):
        continue
    n += 1
    if one != other:
        wrong += 1
        print("differs:", name, "pprof", one, "spoor", other)
print("enough" if n >= 10 else n, "compared,", wrong, "differ")
