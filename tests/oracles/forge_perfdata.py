# SPDX-License-Identifier: GPL-2.0-or-later
"""
forge_perfdata.py CASE FILE: perf.data that no perf record writes. Made from perf's description of
the format (tools/perf/Documentation/perf.data-file-format.txt) and nothing of spoor's.
"""
import struct
import sys

SAMPLE_TYPE = 1 << 16 | 1 | 2 | 4 | 1 << 7 | 1 << 8  # IDENTIFIER IP TID TIME CPU PERIOD


def attr(config=0):
    return struct.pack("<IIQQQQQ", 1, 64, config, 1000, SAMPLE_TYPE, 0, 1 << 18).ljust(64, b"\0")


def record(kind, body, misc=0):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    name += b"\0"
    return name + bytes(-len(name) % 8)


def string(s):
    size = (len(s) + 64) // 64 * 64
    return struct.pack("<I", size) + s.ljust(size, b"\0")


def trailer(time, event):
    return struct.pack("<IIQIIQ", 1, 1, time, 0, 0, event)


def comm(name):
    return record(3, struct.pack("<II", 1, 1) + text(name) + trailer(1, 1))


def mmap(path):
    return record(1, struct.pack("<IIQQQ", 1, 1, 0x1000, 0x1000, 0) + text(path) + trailer(1, 1))


def sample(time, event=1):
    return record(9, struct.pack("<QQIIQIIQ", event, 0x1010, 1, 1, time, 0, 0, 1), 2)


def write(path, events, data, sections):
    """events: [(attr, ids)], attrs of one size; sections: {bit: payload}"""
    at, ids, entries = 104, b"", b""
    for event, numbers in events:
        entries += event + struct.pack("<QQ", at + len(ids), 8 * len(numbers))
        ids += b"".join(struct.pack("<Q", n) for n in numbers)
    at += len(ids)
    bits = sum(1 << bit for bit in sections)
    head = b"PERFILE2" + struct.pack("<12Q", 104, len(events[0][0]) + 16, at, len(entries), at + len(entries), len(data),
                                     0, 0, bits, 0, 0, 0)
    at += len(entries) + len(data) + 16 * len(sections)
    table = rest = b""
    for bit in sorted(sections):
        table += struct.pack("<QQ", at + len(rest), len(sections[bit]))
        rest += sections[bit]
    with open(path, "wb") as f:
        f.write(head + ids + entries + data + table + rest)


def names(path):
    """Everything that is a name is hostile."""
    bad = b"\x1b[31m\nred\xff"
    described = struct.pack("<II", 2, 64)
    for i in range(2):
        described += attr(i) + struct.pack("<I", 1) + string(bad + b"%d" % i)
        described += struct.pack("<Q", i + 1)
    write(path, [(attr(0), [1]), (attr(1), [2])],
          comm(bad[:12]) + mmap(b"/" + bad) + sample(10) + sample(11, 2) + sample(12, 9),
          {3: string(bad), 4: string(bad), 5: string(bad), 6: string(bad),
           11: struct.pack("<I", 1) + string(bad), 12: described})


if __name__ == "__main__":
    {"names": names}[sys.argv[1]](sys.argv[2])
