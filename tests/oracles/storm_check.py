# SPDX-License-Identifier: GPL-2.0-or-later
"""storm_check.py LOG DUMP REPORT: does the report attribute every sample as the log demands?

LOG is what the processes of tests/fixtures/storm.c said of themselves, DUMP the raw samples
(spoor dump --json), REPORT the rows by pid, tid, comm, dso and sym (spoor report --json). From
LOG and the time, thread and address of each user-mode sample follows what it has to be counted
as; the counts by (pid, tid, comm, object[, function]) then have to be those of REPORT. A sample
between the two readings of the clock around a change may be either.
"""
import bisect
import collections
import json
import os
import re
import sys


class Image:
    def __init__(self, begin, end, comm):
        self.begin, self.end, self.comm = begin, end, comm  # of the exec
        self.snapshots = []  # (t0, t1, [(start, end, object)])
        self.functions = []  # (start, end, object, symbol)

    def objects(self, t, ip):
        """What may be mapped at ip, by the snapshots on either side of t."""
        before = [s for s in self.snapshots if s[0] <= t][-1:]
        after = [s for s in self.snapshots if s[1] >= t][:1]
        return {name for _, _, maps in before + after
                for start, end, name in maps if start <= ip < end}

    def function(self, ip, name):
        for start, end, where, symbol in self.functions:
            if start <= ip < end and where == name:
                return symbol
        return None


class Process:
    def __init__(self):
        self.parent = None
        self.images = [Image(0, 0, None)]
        self.comms = collections.defaultdict(list)  # tid -> [(t0, t1, comm)]
        self.main = None


def demangled(symbol):
    return "storm::burn_b" if symbol == "_ZN5storm6burn_bEm" else symbol


def read_log(path):
    processes = collections.defaultdict(Process)
    maps = None
    with open(path) as log:
        for line in log:
            tag, *rest = line.rstrip("\n").split(" ", 1)
            f = rest[0].split(" ")
            if tag == "M":
                maps.append((int(f[0], 16), int(f[1], 16), os.path.basename(f[2])))
                continue
            p = processes[int(f[0])]
            if tag == "P":
                p.parent = processes[int(f[1])]
            elif tag == "C":
                p.comms[int(f[1])].append((int(f[2]), int(f[3]), rest[0].split(" ", 4)[4]))
            elif tag == "X":
                image = Image(int(f[1]), int(f[2]), rest[0].split(" ", 3)[3])
                p.images.append(image)
                p.comms[int(f[0])].append((image.begin, image.end, image.comm))
            elif tag == "S":
                maps = []
                p.images[-1].snapshots.append((int(f[1]), int(f[2]), maps))
            elif tag == "F":
                p.images[-1].functions.append(
                    (int(f[1], 16), int(f[2], 16), os.path.basename(f[3]), demangled(f[4])))
    for p in processes.values():
        if p.parent:  # the image that it was forked with is its parent's
            first = p.images[0]
            first.snapshots = p.parent.images[0].snapshots[:1] + first.snapshots
            first.functions = p.parent.images[0].functions + first.functions
    return processes


def is_first(process):
    return process.parent is None


def comms_at(process, pid, tid, t):
    """Names that the thread may have at t; a thread begins with its creator's."""
    own = process.comms.get(tid, [])
    names = set()
    current = None
    for begin, end, comm in own:
        if end <= t:
            current = comm
        elif begin < t:
            names.add(comm)
    if current is None and tid != pid:
        return names | comms_at(process, pid, pid, t)
    names.add(current or "storm")
    return names


def alternatives(process, pid, tid, t, ip):
    """Every (comm, object, function) that a sample may be."""
    result = set()
    images = process.images
    for k, image in enumerate(images):
        if t < image.begin or (k + 1 < len(images) and t > images[k + 1].end):
            continue
        for comm in comms_at(process, pid, tid, t):
            # Between the last look at the clock and main() it is one image or the other.
            if k > 0 and t < image.end and comm != image.comm:
                continue
            if k + 1 < len(images) and t > images[k + 1].begin and comm == images[k + 1].comm:
                continue
            for name in image.objects(t, ip):
                result.add((comm, name, image.function(ip, name)))
    return result


class Expected:
    """Counts that have to be met: some certain, some that are one of several."""

    def __init__(self):
        self.certain = collections.Counter()
        self.possible = collections.Counter()

    def add(self, keys):
        counter = self.certain if len(keys) == 1 else self.possible
        for key in keys:
            counter[key] += 1

    def compare(self, got, what):
        wrong = 0
        for key in set(self.certain) | set(self.possible) | set(got):
            low = self.certain[key]
            high = low + self.possible[key]
            if not low <= got[key] <= high:
                wrong += 1
                if wrong <= 12:
                    print("%s %s: %d samples instead of %d..%d" % (what, key, got[key], low, high))
        return wrong


def main():
    log, dump, report = sys.argv[1:]
    processes = read_log(log)
    by_object, by_function = Expected(), Expected()
    totals = collections.Counter()
    with open(dump) as samples:
        for line in samples:
            if not line.startswith('{"type":"SAMPLE"'):
                continue
            s = json.loads(line)
            pid, tid = s["pid"], s["tid"]
            if pid not in processes or s["misc"].split("|")[0] != "user":
                continue
            ip = int(s["fields"]["ip"], 16)
            found = alternatives(processes[pid], pid, tid, s["time"], ip)
            # The first of them is spoor's child until its exec, and has said nothing of that.
            if not found and is_first(processes[pid]) and s["time"] < processes[pid].images[0].snapshots[0][0]:
                continue
            totals["samples"] += 1
            if not found:
                totals["unmapped"] += 1
                if totals["unmapped"] <= 5:
                    print("not in a map that was logged: %s" % line.strip())
                continue
            if len(found) > 1:
                totals["ambiguous"] += 1
            by_object.add({(pid, tid, c, o) for c, o, _ in found})
            if any(f for _, _, f in found):
                totals["in known functions"] += 1
                by_function.add({(pid, tid) + x for x in found})
    known = {f[3] for p in processes.values() for i in p.images for f in i.functions}
    got_object, got_function = collections.Counter(), collections.Counter()
    with open(report) as rows:
        for row in json.load(rows)["rows"]:
            if row["pid"] not in processes or row["kernel"] or row["dso"] == "[unknown]":
                continue
            if is_first(processes[row["pid"]]) and row["comm"] == "spoor":
                continue
            key = (row["pid"], row["tid"], row["comm"], row["dso"])
            got_object[key] += row["samples"]
            if row["symbol"] in known:
                got_function[key + (row["symbol"],)] += row["samples"]
    wrong = by_object.compare(got_object, "object")
    wrong += by_function.compare(got_function, "function")
    totals["processes"] = len(processes)
    totals["wrong"] = wrong
    comms = {c for _, _, c, _ in by_object.certain}
    totals["names"] = len({re.sub(r"\d+$", "", c) for c in comms})
    totals["objects"] = len({o for _, _, _, o in by_object.certain})
    print(json.dumps(totals))


main()
