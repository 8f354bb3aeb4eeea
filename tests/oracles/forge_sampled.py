# SPDX-License-Identifier: GPL-2.0-or-later
"""
forge_sampled.py CASE PROGRAM FILE: a perf.data with what only some hardware samples: addresses of
data with their sources and weights, branch stacks, the call stacks of CPUs, chains that come later.
Made from <linux/perf_event.h>, and nothing of spoor's. PROGRAM is $FIXTURES/touched, whose
symbols and segments say what stands where.
"""
import os
import struct
import subprocess
import sys

from forge_perfdata import record, string, text, write

BASE = 0x10000000
IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 8, 32, 128, 256
BRANCH_STACK, WEIGHT, DATA_SRC, IDENTIFIER = 1 << 11, 1 << 14, 1 << 15, 1 << 16
TRANSACTION, PHYS_ADDR = 1 << 17, 1 << 19
DATA_PAGE_SIZE, CODE_PAGE_SIZE = 1 << 22, 1 << 23
PLAIN = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
MEMORY = PLAIN | ADDR | WEIGHT | DATA_SRC | TRANSACTION | PHYS_ADDR | DATA_PAGE_SIZE | CODE_PAGE_SIZE
USER, KERNEL = 2, 1
ANY, CALL_STACK = 1 << 3, 1 << 11
SAMPLE_ID_ALL, DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 18, 1 << 38, 1 << 39
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = 2**64 - 128, 2**64 - 512, 2**64 - 640


class Program:
    """Where its file is mapped, page for page, and its symbols then."""

    def __init__(self, path):
        self.path = os.path.realpath(path).encode()
        self.symbols = {}
        for line in subprocess.check_output(["nm", path], text=True).splitlines():
            words = line.split()
            if len(words) == 3:
                self.symbols[words[2]] = BASE + int(words[0], 16)
        with open(path, "rb") as f:
            elf = f.read()
        at, size, count = (struct.unpack_from(form, elf, n)[0]
                           for form, n in (("<Q", 32), ("<H", 54), ("<H", 56)))
        self.maps = []
        for i in range(count):
            kind, flags, offset, vaddr, _, filesz, memsz, _ = struct.unpack_from(
                "<IIQQQQQQ", elf, at + i * size)
            if kind != 1:
                continue
            start, page = BASE + vaddr & -4096, offset & -4096
            end = BASE + vaddr + filesz + 4095 & -4096
            prot = (flags & 1) << 2 | flags & 2 | (flags & 4) >> 2
            self.maps.append((start, end - start, page, prot, self.path))
            if BASE + vaddr + memsz > end:
                rest = BASE + vaddr + memsz + 4095 & -4096
                self.maps.append((end, rest - end, 0, prot, b"//anon"))

    def __getitem__(self, symbol):
        name, _, offset = symbol.partition("+")
        return self.symbols[name] + int(offset or "0", 16)


def attr(sample_type, branches=0, flags=0):
    """cpu-clock, as far as sizes matter: no PMU is asked for."""
    a = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, sample_type, 0, SAMPLE_ID_ALL | flags)
    return (a.ljust(72, b"\0") + struct.pack("<Q", branches)).ljust(128, b"\0")


def trailer(time, pid=7):
    return struct.pack("<IIQIIQ", pid, pid, time, 0, 0, 1)


def side_band(program):
    out = record(3, struct.pack("<II", 7, 7) + text(b"touched") + trailer(1), 1 << 13)
    for start, length, offset, prot, path in program.maps:
        body = struct.pack("<IIQQQIIQQII", 7, 7, start, length, offset, 0, 0, 0, 0, prot, 2)
        out += record(10, body + text(path) + trailer(2), USER | (0 if prot & 4 else 1 << 13))
    return out


def head(ip, time, addr=None, period=1000, event=1):
    return (struct.pack("<QQIIQ", event, ip, 7, 7, time) +
            (b"" if addr is None else struct.pack("<Q", addr)) + struct.pack("<IIQ", 0, 0, period))


def memory(ip, time, addr, weight, source, transaction=0, phys=0, pages=(4096, 4096), period=1000):
    return record(9, head(ip, time, addr, period) +
                  struct.pack("<QQQQQQ", weight, source, transaction, phys, *pages), USER | 1 << 14)


def flags(predicted=0, mispredicted=0, in_tx=0, abort=0, cycles=0):
    return mispredicted | predicted << 1 | in_tx << 2 | abort << 3 | cycles << 4


def branches(entries):
    return struct.pack("<Q", len(entries)) + b"".join(struct.pack("<QQQ", *e) for e in entries)


def chain(words):
    return struct.pack("<Q%dQ" % len(words), len(words), *words)


# op load, store; L1 hit, L3 miss, RAM by number; snoops, TLBs, locked, blocked.
SOURCES = [
    2 | 0x0a << 5 | 2 << 19 | 0x1a << 26,
    2 | 0x44 << 5 | 0x10 << 19 | 0x24 << 26 | 2 << 24,
    4 | 0x82 << 5 | 1 << 19 | 0x12 << 26 | 2 << 40,
    2 | 0x02 << 5 | 0xd << 33 | 1 << 37 | 4 << 19 | 0x12 << 26 | 4 << 40,
    2 | 0x0a << 5 | 2 << 19 | 0x1a << 26 | 1 << 38,
]


def mem(program, path):
    """Two loads at one address, and others that each differ in something."""
    at, zero = program["touched_data+10"], program["touched_zero+20"]
    data = side_band(program)
    links = [(4, 0xf0000abc if i == 6 else 0xf0000000 + i) for i in range(7)]  # NAMESPACES: cgroup is 6
    data += record(16, struct.pack("<IIQ", 7, 7, 7) + b"".join(struct.pack("<QQ", *l) for l in links) + trailer(3))
    for i, (ip, addr, weight, source, more) in enumerate([
            ("touch_data", at, 7, 0, {}),
            ("touch_data", at, 7, 0, {}),
            ("touch_data+4", at + 0x40, 30, 1, {"phys": 0x12345040, "transaction": 0x600000002 | 4}),
            ("touch_zero", at + 0x1000, 7, 2, {"pages": (2 << 20, 4096), "period": 5000}),
            ("touch_zero", zero, 900, 3, {"pages": (1 << 30, 2 << 20), "transaction": 0x30}),
            ("main", 0x7000, 0, 4, {"period": 250})]):
        data += memory(program[ip], 100 + i, addr, weight, SOURCES[source], **more)
    for kind, time in (5, 1000), (6, 3500), (5, 9000):  # THROTTLE, UNTHROTTLE
        data += record(kind, struct.pack("<QQQ", time, 1, 1) + trailer(time))
    write(path, [(attr(MEMORY), [1])], data, {3: string(b"forged")})


def branch(program, path):
    """Three samples: the branches of all of them count, once each."""
    call = (program["main+4"], program["touch_data"])
    back = (program["touch_data+8"], program["main+9"])
    loop = (program["touch_zero+10"], program["touch_zero+4"])
    data = side_band(program)
    for i, entries in enumerate([
            [(*back, flags(predicted=1, cycles=12)), (*call, flags(predicted=1, cycles=3))],
            [(*loop, flags(mispredicted=1, cycles=40)), (*loop, flags(predicted=1, cycles=2)),
             (*loop, flags(predicted=1, cycles=2)), (*call, flags(predicted=1, cycles=3))],
            [(*call, flags(predicted=1, in_tx=1, cycles=3)), (*back, flags(in_tx=1, abort=1))]]):
        data += record(9, head(program["main+10"], 100 + i) + branches(entries), USER)
    write(path, [(attr(PLAIN | BRANCH_STACK, ANY), [1])], data, {3: string(b"forged")})


KERNEL_IP = 0xffffffff81000000


def lbr(program, path):
    """Call stacks that the CPU kept: main called touch_data, which called touch_zero."""
    calls = [(program["touch_data+8"], program["touch_zero"], 0), (program["main+4"], program["touch_data"], 0)]
    user, data = program["touch_zero+6"], side_band(program)
    for i, (ip, mode, words) in enumerate([
            (user, USER, [CONTEXT_USER, user, 0xbad]),
            (KERNEL_IP, KERNEL, [CONTEXT_KERNEL, KERNEL_IP, CONTEXT_USER, user, 0xbad]),
            (KERNEL_IP, KERNEL, [CONTEXT_KERNEL, KERNEL_IP])]):
        data += record(9, head(ip, 100 + i) + chain(words) + branches(calls), mode)
    write(path, [(attr(PLAIN | CALLCHAIN | BRANCH_STACK, CALL_STACK | 1), [1])], data, {3: string(b"forged")})


def deferred(program, path):
    """Two samples of one stay in the kernel, one of another, and one whose record never comes."""
    inner, outer = program["touch_zero+6"], program["main+9"]
    data = side_band(program)
    for time, cookie in (100, 5), (110, 5), (120, 6), (130, 7):
        words = [CONTEXT_KERNEL, KERNEL_IP, CONTEXT_USER_DEFERRED, cookie]
        data += record(9, head(KERNEL_IP, time) + chain(words), KERNEL)
        if time in (110, 120):
            user = [CONTEXT_USER, inner] + ([outer] if cookie == 5 else [])
            data += record(22, struct.pack("<Q", cookie) + chain(user) + trailer(time + 5))
    write(path, [(attr(PLAIN | CALLCHAIN, 0, DEFER_CALLCHAIN | DEFER_OUTPUT), [1])], data,
          {3: string(b"forged")})


CASES = {"mem": mem, "branch": branch, "lbr": lbr, "deferred": deferred}

if __name__ == "__main__":
    CASES[sys.argv[1]](Program(sys.argv[2]), sys.argv[3])
