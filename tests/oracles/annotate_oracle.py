#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""annotate_oracle.py SPOOR ORACLE RECORDING OBJECT [SYMBOL...]: compares what spoor annotate says of the object's
functions (or those named) with another program's answer; prints what was compared.

objdump  the same instructions at the same addresses, as bytes; the same mnemonics but for suffixes; the same
         function where a jump or a call goes
llvm     of each instruction, the same lines and inlined functions
perf     perf annotate of a perf.data (in place of RECORDING for it: $PERF_DATA): the same percentage at each address
"""
import json
import os
import re
import subprocess
import sys


def fail(*words):
    print(*words)
    sys.exit(1)


def output(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                          **more).stdout


# AT&T's suffixes and the names that two disassemblers have for one instruction.
SAME = [{"retq", "ret", "repz"}, {"data16", "nopw", "nop", "cs"}, {"movabsq", "movabs"}, {"notrack", "jmpq"},
        {"xchgw", "xchg", "nop"}, {"pause", "rep"}, {"cwtl", "cwde"}, {"cltq", "cdqe"}, {"cltd", "cdq"}, {"cqto", "cqo"},
        {"endbr64", "repz"}, {"lock", "locked"}]


def same_mnemonic(a, b):
    a, b = a.split()[0], b.split()[0]
    if a == b or any(a in s and b in s for s in SAME) or a in ("rep", "repne", "lock", "bnd", "notrack"):
        return True
    return a.rstrip("bwlq") == b.rstrip("bwlq") or a[:3] == b[:3]


def demangled(names):
    """What spoor calls them: without parameters, the word of a clone, and the hash of Rust's legacy mangling."""
    said = output("c++filt", "-p", input="".join(n + "\n" for n in names)).split("\n")
    return {n: re.sub(r" \[clone [^]]*\]|::h[0-9a-f]{16}$", "", d) for n, d in zip(names, said)}


def objdump(obj, f):
    start, end = int(f["start"], 16), int(f["end"], 16)
    theirs = {}
    for line in output("objdump", "-d", "-w", f"--start-address={start}", f"--stop-address={end}", obj).split("\n"):
        m = re.match(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", line)
        if m:
            theirs[int(m[1], 16)] = (m[2].replace(" ", ""), m[3])
    ours = {int(i["address"], 16): i for i in f["instructions"]}
    if set(ours) != set(theirs):
        fail(f["symbol"], "other addresses:", [hex(a) for a in sorted(set(ours) ^ set(theirs))][:10])
    targets = []
    for at, (raw, text) in theirs.items():
        if raw != ours[at]["bytes"]:
            fail(f["symbol"], hex(at), ours[at]["bytes"], "is", raw)
        if "(bad)" not in text and not same_mnemonic(text, ours[at]["text"]):
            fail(f["symbol"], hex(at), ours[at]["text"], "is", text)
        # A conditional jump or a direct call.
        m = re.match(r"(?:bnd )?(j\w+|call\w*)\s+[0-9a-f]+ <([^>+]+)(?:\+0x([0-9a-f]+))?>$", text)
        # Where a stub of the PLT goes to, the first one, has no name: objdump says what stands before.
        if m and "@" not in m[2] and not f["symbol"].endswith("@plt"):
            targets.append((at, m[2], int(m[3] or "0", 16), text))
    names = demangled([t[1] for t in targets])
    for at, name, offset, text in targets:
        got = ours[at].get("target_symbol"), ours[at].get("target_offset")
        if got != (names[name], offset):
            fail(f["symbol"], hex(at), got, "is", text)
    return len(theirs)


def llvm(obj, f):
    at = [i["address"] for i in f["instructions"]]
    answers = output("llvm-symbolizer", f"--obj={obj}", input="".join(a + "\n" for a in at)).strip().split("\n\n")
    for i, answer in zip(f["instructions"], answers):
        lines = answer.split("\n")
        theirs = [(os.path.basename(w.rsplit(":", 2)[0]), int(w.rsplit(":", 2)[1])) for w in lines[1::2]]
        ours = [(os.path.basename(w["srcfile"] or "??"), w["srcline"]) for w in i["frames"]] or [("??", 0)]
        # Without DWARF there, it has the name of the symbol table's STT_FILE, and no line.
        if ours != theirs and not (ours == [("??", 0)] and [line for _, line in theirs] == [0]):
            fail(f["symbol"], i["address"], ours, "is", theirs)
    return len(at)


def perf(obj, f):
    # They end with their sections; perf has them until the next symbol, over the stubs of another section.
    # So does the last stub of the PLT.
    if f["symbol"] in ("_init", "_fini", "__cxa_finalize@plt"):
        return 0
    for left in range(2, -1, -1):
        try:
            text = output("perf", "annotate", "--stdio", "-i", os.environ["PERF_DATA"], "-d", obj, "-s", f["symbol"])
            break
        except subprocess.CalledProcessError as e:
            # perf 6.1 was seen to abort, once in a hundred runs.
            if left == 0 or e.returncode >= 0:
                raise
    theirs, seen = {}, 0
    for line in text.split("\n"):
        seen += line.startswith(" Percent")
        m = re.match(r"\s*([0-9.]+) :\s+([0-9a-f]+):", line)
        if m and seen == 1:
            theirs[int(m[2], 16)] = float(m[1])
    ours = {int(i["address"], 16): i["overhead"] for i in f["instructions"]}
    if not theirs or set(ours) != set(theirs):
        fail(f["symbol"], "other addresses:", [hex(a) for a in sorted(set(ours) ^ set(theirs))][:10])
    for at, percent in theirs.items():
        if abs(percent - ours[at]) > 0.0051:
            fail(f["symbol"], hex(at), ours[at], "is", percent)
    return sum(p > 0 for p in theirs.values())


def main():
    spoor, oracle, recording, obj, *symbols = sys.argv[1:]
    said = json.loads(output(spoor, "annotate", "--json", "-n", "100000", "-i", recording, "-d", obj))
    functions = [f for f in said["functions"] if not symbols or f["symbol"] in symbols]
    if not functions or len(functions) < len(symbols):
        fail("no such functions:", symbols, "among", [f["symbol"] for f in said["functions"]])
    compared = 0
    for f in functions:
        if f["no_instructions"]:
            fail(f["symbol"], f["no_instructions"])
        if sum(i["samples"] for i in f["instructions"]) != f["samples"]:
            fail(f["symbol"], "samples of instructions are not its samples")
        if f["lines"] and sum(l["samples"] for l in f["lines"]) != f["samples"]:
            fail(f["symbol"], "samples of lines are not its samples")
        compared += {"objdump": objdump, "llvm": llvm, "perf": perf}[oracle](obj, f)
    print(f"{compared} addresses of {len(functions)} functions")


main()
