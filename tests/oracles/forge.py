# SPDX-License-Identifier: GPL-2.0-or-later
"""
forge.py CASE FILE: recordings that no recorder writes: whole, with checksums that are right, and
hostile contents. Made from spoor-recording(5) and nothing else: what is missing there fails here.
"""
import struct
import sys

ID = bytes(range(16))
SAMPLE_TYPE = 1 << 16 | 1 | 2 | 4 | 1 << 7 | 1 << 8  # IDENTIFIER IP TID TIME CPU PERIOD
ATTR = struct.pack("<IIQQQQQ", 1, 64, 0, 999, SAMPLE_TYPE, 0, 1 << 18 | 1 << 10).ljust(64, b"\0")


def crc_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def pad8(data):
    return data + bytes(-len(data) % 8)


def tag(number, value, flags=0):
    return pad8(struct.pack("<HHI", number, flags, len(value)) + value)


def meta(name):
    event = struct.pack("<IIII", 64, len(name), 1, 0) + ATTR + pad8(name) + struct.pack("<Q", 1)
    return tag(1, ID) + tag(8, name) + tag(13, name) + tag(16, event, 1)


class Recording:
    def __init__(self, event=b"cpu-clock", more=b""):
        self.blocks = []
        self.index = b""
        self.records = self.samples = self.raw = 0
        m = meta(event) + more
        head = struct.pack("<HHQQ", 64, 1, 0, 0) + ID + struct.pack("<IIQ", len(m), crc32c(m), 0)
        self.bytes = b"\x89SPOR\r\n\x1a" + struct.pack("<I", crc32c(head)) + head
        self.bytes = pad8(self.bytes + m)
        self.seq = 0
        self.block(1, m)

    def block(self, kind, payload, records=0, samples=0):
        offset, flags = len(self.bytes), 2 | (kind in (1, 3))
        head = struct.pack(
            "<HBBIIQQQQQIIQIIQ", 96, kind, 0, flags, records, self.seq, offset, 0, 0, 0, samples,
            crc32c(payload), 0, len(payload), len(payload), 0)
        crc = struct.pack("<I", crc32c(head + ID))
        self.bytes += b"\xf0spB\r\n\x1a\xb5" + crc + head + payload
        self.index += struct.pack(
            "<QQQQQIIIIIBBH", offset, self.seq, 0, 0, 0, records, samples, len(payload),
            len(payload), flags, kind, 0, 96)
        self.seq += 1
        self.raw += len(payload)
        self.records += records if kind == 3 else 0
        self.samples += samples if kind == 3 else 0
        return offset

    def add(self, *records):
        samples = sum(1 for r in records if r[0] == 9)
        self.block(3, b"".join(records), len(records), samples)

    def write(self, path):
        at = self.block(7, struct.pack("<IIQ", self.seq, 64, 0) + self.index)
        self.block(8, struct.pack("<QQQQQQ", at, self.seq, self.records, self.samples, self.raw, 0)
                   + bytes(16))
        with open(path, "wb") as f:
            f.write(self.bytes)


def record(kind, body, misc=0):
    body = pad8(body)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, time):
    return struct.pack("<IIQIIQ", pid, pid, time, 0, 0, 1)


def comm(name, pid, time=1):
    return record(3, pad8(struct.pack("<II", pid, pid) + name + b"\0") + trailer(pid, time))


def mmap(path, start, length, pid, time=1, offset=0, misc=0):
    return record(1, pad8(struct.pack("<IIQQQ", pid & 0xFFFFFFFF, 0, start, length, offset) + path + b"\0")
                  + trailer(pid & 0xFFFFFFFF, time), misc)


def sample(ip, pid, time=1, period=1, misc=2):
    return record(9, struct.pack("<QQIIQIIQ", 1, ip, pid, pid, time, 0, 0, period), misc)


NAMES = [
    b"", b" ", b"\x1b[31mred", b"a;b c", b"new\nline 9", b"\xff\xfe\x80", b"\x7f\x9b31m",
    "\u202e\u2066".encode(), b'"\\', b"\rX", "\u3164\u200b".encode(), b"\xed\xa0\x80",
]


def ksyms(symbols):
    """(start, end, module, name)"""
    payload = struct.pack("<II", len(symbols), 0)
    for start, end, *texts in symbols:
        payload += struct.pack("<QQ", start, end)
        payload += b"".join(struct.pack("<I", len(t)) + t for t in texts)
    return payload


def kernel(path, build_id, release, moved, text, addresses):
    """
    A sample at each address (a file of them) in a vmlinux that was moved; the recording names its
    functions (lines NAME START END on standard input), of a module those that begin with mod_.
    """
    moved, text = int(moved, 16), int(text, 16)
    r = Recording(more=tag(9, release.encode()) + tag(14, bytes.fromhex(build_id)))
    symbols = []
    for line in sys.stdin:
        name, start, end = line.split()
        symbols.append((int(start, 16) + moved, int(end, 16) + moved, b"mod" if name.startswith("mod_") else b"",
                        name.encode()))
    r.block(4, ksyms(symbols))
    r.add(mmap(b"[kernel.kallsyms]_text", text + moved, 1 << 24, -1, offset=text + moved, misc=1),
          comm(b"k", 1), *(sample(int(a, 16) + moved, 1, misc=1) for a in open(addresses)))
    r.write(path)


def poke(address, old, new, time):
    return record(20, struct.pack("<QHH", address, len(old), len(new)) + pad8(bytes(4) + old + new)[4:] + trailer(0, time))


def pokes(path, build_id, moved, text, start, end):
    """
    Samples of busy() at 1, 3, 5 s, in a vmlinux that was moved; lines SECONDS OFFSET OLD NEW on standard input are
    what the kernel writes over it meanwhile.
    """
    moved, text, start, end = (int(n, 16) for n in (moved, text, start, end))
    r = Recording(more=tag(14, bytes.fromhex(build_id)))
    second = 10 ** 9
    records = [(t * second, sample(start + moved, 1, time=t * second, misc=1)) for t in (1, 3, 5)]
    for line in sys.stdin:
        seconds, offset, old, new = line.split()
        records.append((int(seconds) * second, poke(start + moved + int(offset), bytes.fromhex(old), bytes.fromhex(new),
                                                    int(seconds) * second)))
    r.block(4, ksyms([(start + moved, end + moved, b"", b"busy")]))
    r.add(mmap(b"[kernel.kallsyms]_text", text + moved, 1 << 24, -1, offset=text + moved, misc=1), comm(b"k", 1))
    # Each by itself: what is behind a window is in blocks of its own.
    for _, one in sorted(records, key=lambda r: r[0]):
        r.add(one)
    r.write(path)


def names(path):
    r = Recording(b"\x1b[31m\nX \"\xff\\")
    records = []
    for i, name in enumerate(NAMES):
        pid = i + 1
        records += [comm(name, pid), mmap(b"/" + name, 0x1000, 0x1000, pid), sample(0x1010, pid)]
        records += [sample(0xFFFFFFFF80000000 + 16 * i, pid, misc=1)]
    r.block(4, ksyms([(0xFFFFFFFF80000000 + 16 * i, 0xFFFFFFFF80000010 + 16 * i, name, name)
                      for i, name in enumerate(NAMES)]))
    r.add(*records)
    r.write(path)


def wraps(path):
    top = 2 ** 64 - 1
    r = Recording()
    r.add(comm(b"w", 1), mmap(b"/w", top - 4095, 8192, 1), mmap(b"/z", 5, 0, 1),
          sample(top - 100, 1, time=top, period=top), sample(top, 1, time=top - 1, period=top),
          sample(0, 1, time=0, period=2))
    r.write(path)


def parts(path, since, until, *files):
    """A window of recordings, each of them FILE or FILE=BYTES, its length in the list."""
    value, behind = struct.pack("<QQ", int(since), int(until)), b""
    for file in files:
        name, _, length = file.partition("=")
        data = open(name, "rb").read()
        value += struct.pack("<QI", int(length or len(data)), len(name)) + name.encode()
        behind += data
    r = Recording(more=tag(18, value, 1))
    r.write(path)
    with open(path, "ab") as f:
        f.write(behind)


if __name__ == "__main__":
    {"names": names, "wraps": wraps, "kernel": kernel, "pokes": pokes, "parts": parts}[sys.argv[1]](*sys.argv[2:])
