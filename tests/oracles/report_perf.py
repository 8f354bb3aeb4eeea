# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of perf and of spoor, side by side: rows PERF SPOOR no-children, graphs PERF SPOOR PERF_SCRIPT SPOOR_SCRIPT, or
rows PERF SPOOR children PERF_SCRIPT SPOOR_SCRIPT MARKS: what perf script and spoor export -f perf-script print, and
"TID TIME_NS" of each sample whose stack has a word that looks like a mark.

What has no symbol is an address in perf's, and a row or a function for each object in spoor's: rows of that
are not compared, in call graphs all that is unknown is one function. Two more names differ:
 - perf looks up a return address itself, spoor the call before it: of _start that ends in a call,
   _dl_start_user is what comes next;
 - perf takes callers from what was mapped before an exec, where spoor knows none: system calls of libc, and
   anything in the dynamic linker, which has no frame pointers and runs first;
 - a word that is taken for a return address may point to a function, as those of bash's lists of what is to be undone:
   perf names that function, spoor what ends there. In call graphs both names are unknown;
 - the symbols of a stripped compiler are templates with gaps between them: next to which the call was.
perf takes names of the vDSO from its cache of build-ids, which an export does not fill: those are unknown, too.
Stubs of the linkage table have no names in some perfs. Two functions of one name are two rows of perf's: those are
passed over.

Without frame pointers a word of a stack may look like a mark between kernel and user, as -1 does. perf drops such a
stack whole, its script prints no frame of it; spoor drops the word. In call graphs, rows that have such stacks are
passed over. With children, what the frames of such stacks add to a row is taken from spoor's share."""

import json
import re
import sys

KNOWN_AS = {"_dl_start_user": "_start", "execve": "[unknown]"}


def name(text):
    text = re.sub(r"^.*(?=@plt$)", "", re.sub(r"^\[[k.]\] ", "", text.strip()))
    if re.fullmatch(r"(0x)?[0-9a-f]+|\[.*\]( \[.*\])?|.*\[0x[0-9a-f]+\]|@plt", text):
        return "[unknown]"
    return "[unknown]" if text.startswith(("__GI_", "_Z", "__vdso_")) else KNOWN_AS.get(text, text)


def perf_rows(path):
    """Shares by (comm, object, symbol)."""
    rows = {}
    for line in open(path, errors="surrogateescape"):
        cells = [x.strip() for x in line.rstrip("\n").split("\1")]
        shares = [float(x[:-1]) for x in cells if re.fullmatch(r"[0-9.]+%", x)]
        key = tuple(name(x) if i == 2 else x for i, x in enumerate(cells[len(shares):]))
        if shares and key[2] != "[unknown]":
            rows[key] = [a + b for a, b in zip(shares, rows.get(key, [0, 0]))]
    return rows


def spoor_rows(path, children):
    rows = {}
    for r in json.load(open(path))["rows"]:
        key = (r["comm"], r["dso"], name(r["symbol"]))
        if key[2] != "[unknown]":
            shares = [r["children"], r["overhead"]] if children else [r["overhead"]]
            rows[key] = [a + b for a, b in zip(shares, rows.get(key, [0, 0]))]
    return rows


SAMPLE = re.compile(r"(\S.*?) +(?:-?\d+/)?(\d+) .*?([0-9]+\.[0-9]+): +(?:(\d+) )?")


def script_samples(path):
    """What a script prints: of each sample its comm, thread, time, period and frames, the leaf first."""
    samples = []
    for line in open(path, errors="surrogateescape"):
        head = SAMPLE.match(line)
        if head:
            comm, tid, time, period = head.groups()
            samples.append((comm, (tid, time), int(period or 0), []))
        elif line.strip() and not line.startswith("#"):
            samples[-1][3].append(line.strip())
    return samples


def frame_key(comm, frame):
    symbol, path = re.fullmatch(r"[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \(([^()]*)\)", frame).groups()
    return comm, path.rsplit("/", 1)[-1], name(symbol)


def callers_dropped(perf, spoor, marks):
    """By row: the share of samples in which it called the leaf, and of which perf has no stack; and how many samples
    have no stack in perf and no such word, or the word and a stack."""
    dropped = {at for _, at, _, frames in script_samples(perf) if not frames}
    marked = set()
    for line in open(marks):
        tid, ns = line.split()
        marked.add((tid, f"{int(ns) // 10**9}.{int(ns) % 10**9 // 1000:06d}"))
    samples = script_samples(spoor)
    total = sum(period for _, _, period, _ in samples)
    shares = {}
    for comm, at, period, frames in samples:
        if at in dropped:
            keys = [frame_key(comm, f) for f in frames]
            for key in set(keys[1:]) - set(keys[:1]):
                shares[key] = shares.get(key, 0) + 100 * period / total
    print(len(dropped), "of", len(samples), "samples have no stack in perf")
    for at in sorted(dropped ^ marked):
        print("differs:", *at, "has no stack in perf, and no mark" if at in dropped else "has a mark, and a stack in perf")
    return shares, len(dropped ^ marked)


def compare_rows(perf, spoor, dropped):
    for key in set(spoor) & set(dropped):
        spoor[key][0] -= dropped[key]
    hottest = set()
    for side in perf, spoor:
        hottest.update(sorted(side, key=lambda k: -side[k][0])[:50])
    bad = 0
    for key in sorted(hottest):
        a, b = perf.get(key), spoor.get(key)
        if not a or not b or any(abs(x - y) > 0.0101 for x, y in zip(a, b)):
            print("differs:", key, "perf", a, "spoor", b)
            bad += 1
    return bad, len(hottest)


def perf_graphs(path):
    """By row: its samples, and those of each way from the root of its call graph (None: not told)."""
    rows, ways, stack, count = {}, None, [], 0
    for line in open(path, errors="surrogateescape"):
        line = line.rstrip()
        if re.match(r"#|$", line):
            continue
        # With children the number is of the row itself, and what all of its graph has in common says none.
        row = re.match(r" +((?:[0-9.]+%  +)?)([0-9]+)  (\S.*?)  +(\S.*?)  +(\[[k.]\] .*)$", line)
        if row:
            key = row.group(3), row.group(4), name(row.group(5))
            # perf has a row for each address that has no name.
            total, ways = rows.setdefault(key, ([], {}))
            stack, count = [], None if row.group(1) else int(row.group(2))
            total.append(int(row.group(2)))
            continue
        if re.fullmatch(r"[ |]*", line):
            continue
        branch = re.fullmatch(r"([ |]*)--([0-9]+)--(.*)", line)
        if branch:
            column, count, text = len(branch.group(1)) + 11 - 1, int(branch.group(2)), branch.group(3)
            while stack and stack[-1][0] >= column:
                stack.pop()
        else:
            text = re.sub(r"^[ |]*(---)?", "", line)
            column = stack[-1][0] if stack else 0
        stack.append((column, name(text)))
        way = tuple(n for _, n in stack)
        known = ways.get(way, 0)
        ways[way] = None if count is None or known is None else count + known
    return rows


def spoor_graphs(path):
    rows = {}
    for r in json.load(open(path))["rows"]:
        key = (r["comm"], r["dso"], name(r["symbol"]))
        total, ways = rows.setdefault(key, ([], {}))
        total.append(r["samples"])
        way = []
        for node in r["call_graph"]:
            way[node["depth"] - 1:] = [name(node["name"])]
            ways[tuple(way)] = node["samples"] + ways.get(tuple(way), 0)
    return rows


def pointed_to(perf, spoor):
    """The names, of both, of callers whose address is where a function begins: no call returns to there."""
    ours = {at: frames for _, at, _, frames in script_samples(spoor)}
    names = set()
    for _, at, _, frames in script_samples(perf):
        # The first one of user space was interrupted, and may stand at a function's first instruction.
        user = next((i for i, f in enumerate(frames) if not f.startswith("ffff")), 0)
        for i, frame in enumerate(frames):
            if i in (0, user):
                continue
            begins = re.fullmatch(r"[0-9a-f]+ (.*)\+0x0", frame)
            if begins:
                names.add(name(begins.group(1)))
                if at in ours and len(ours[at]) == len(frames):
                    names.add(frame_key("", ours[at][i])[2])
    return names


def without(names, graphs):
    """Graphs in which these are unknown."""
    for total, ways in graphs.values():
        merged = {}
        for way, n in ways.items():
            key = tuple("[unknown]" if x in names else x for x in way)
            known = merged.get(key, 0)
            merged[key] = None if n is None or known is None else n + known
        ways.clear()
        ways.update(merged)
    return graphs


def compare_graphs(perf, spoor):
    def drawn(ways):
        return sum(n for way, n in ways.items() if len(way) == 1)

    def whole(key):
        total, ways = perf.get(key, ([0], {("",): None}))
        return len(total) == 1 and (None in ways.values() or drawn(ways) >= drawn(spoor[key][1]))

    rows = [k for k in spoor if k[2] != "[unknown]" and not k[1].startswith("ld-") and whole(k)]
    children = any(None in ways.values() for _, ways in perf.values())
    bad, few, words = 0, 0, set()
    for key in sorted(rows, key=lambda k: -drawn(spoor[k][1]))[:10]:
        a, b = perf[key][1] if key in perf else {}, spoor[key][1]
        apart = {way: (a.get(way, 0), b.get(way, 0)) for way in sorted(set(a) | set(b))
                 if a.get(way, 0) != b.get(way, 0) and not (way in b and way in a and a[way] is None)}
        if not apart:
            continue
        print("differs:", key)
        # A word that is taken for a return address and points to a function: perf names that, spoor what ends there.
        # With children it is in the graph of each function that it called.
        words.add(frozenset(way[-1] for way in apart))
        few += 1
        if len(words) > 3 or few > 3 and not children or max(abs((x or 0) - y) for x, y in apart.values()) > 2 + 0.05 * drawn(b):
            bad += 1
        for way, (x, y) in apart.items():
            print("  perf", x, "spoor", y, ";".join(way))
    return bad, min(len(rows), 10)


what, one, other = sys.argv[1:4]
if what == "rows":
    children = sys.argv[4] == "children"
    shares, unlike = callers_dropped(*sys.argv[5:8]) if children else ({}, 0)
    wrong, n = compare_rows(perf_rows(one), spoor_rows(other, children), shares)
    wrong += unlike
else:
    names = pointed_to(*sys.argv[4:6])
    wrong, n = compare_graphs(without(names, perf_graphs(one)), without(names, spoor_graphs(other)))
print(f"{'enough' if n >= 10 else n} compared, {wrong} differ")
