#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A perf.data taken apart, for tests: written from perf's own description of the format
(tools/perf/Documentation/perf.data-file-format.txt) and not from spoor's code.

    perfdata.py records FILE   every kernel record in hex, sorted: two files with the same ones
                               print the same
    perfdata.py order FILE     records with a time, and how many are older than one before
    perfdata.py types FILE     kernel records by type number
    perfdata.py comms FILE     every sample's task, whether that has exited, and its name; in the
                               order of the file, for samples with IDENTIFIER, IP, TID
    perfdata.py attrs FILE     size, type, config and ids of every event
    perfdata.py rounds FILE    FINISHED_ROUND records
    perfdata.py aux FILE       of each AUXTRACE record ring, CPU, thread, offset, size
    perfdata.py trace FILE N   the bytes of those of ring N, one after another
    perfdata.py places FILE    what stands where the AUXTRACE section says that they are: type, size of each
    perfdata.py about FILE     the private words of AUXTRACE_INFO, in hexadecimal
    perfdata.py without-cpu FILE TO   a copy whose attrs do not tell the CPU
"""
import collections
import ctypes
import struct
import sys

COMM, EXIT, FORK = 3, 4, 7
SAMPLE, ATTR, TRACING_DATA, ROUND, AUXTRACE, COMPRESSED, COMPRESSED2 = 9, 64, 66, 68, 71, 81, 83
AUXTRACE_INFO, AUXTRACE_FEATURE, PERF_SAMPLE_CPU = 70, 18, 0x80
IP, TID, TIME, ADDR, ID, CPU, STREAM_ID, IDENTIFIER = (
    1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 7, 1 << 9, 1 << 16)
SAMPLE_ID_ALL = 1 << 18


class Attr:
    def __init__(self, data, at):
        self.type, size = struct.unpack_from('<II', data, at)
        self.size = size or 64
        (self.config, _, self.sample_type, _, self.flags) = struct.unpack_from('<5Q', data, at + 8)
        self.ids = []


class Zstd:
    """The one endless stream that perf record -z makes."""

    class Buffer(ctypes.Structure):
        _fields_ = [('p', ctypes.c_char_p), ('size', ctypes.c_size_t), ('pos', ctypes.c_size_t)]

    def __init__(self):
        self.lib = ctypes.CDLL('libzstd.so.1')
        self.lib.ZSTD_createDStream.restype = ctypes.c_void_p
        self.lib.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.lib.ZSTD_decompressStream.argtypes = [ctypes.c_void_p] + 2 * [ctypes.c_void_p]
        self.stream = self.lib.ZSTD_createDStream()

    def unpack(self, payload):
        result = b''
        room = ctypes.create_string_buffer(1 << 20)
        source = self.Buffer(payload, len(payload), 0)
        while True:
            out = self.Buffer(ctypes.cast(room, ctypes.c_char_p), len(room), 0)
            code = self.lib.ZSTD_decompressStream(self.stream, ctypes.byref(out),
                                                  ctypes.byref(source))
            if self.lib.ZSTD_isError(ctypes.c_size_t(code)):
                sys.exit('zstd: error in the stream')
            result += room.raw[:out.pos]
            if source.pos == source.size and out.pos < out.size:
                return result


class Perfdata:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        self.attrs, self.records, self.rounds, self.aux = [], [], 0, []
        self.about, self.places = b'', []
        magic, size = struct.unpack_from('<8sQ', self.data, 0)
        if magic != b'PERFILE2':
            sys.exit('%s: not a perf.data' % path)
        start, end = 16, len(self.data)
        if size != 16:
            attr_size, at, total, start, length = struct.unpack_from('<5Q', self.data, 16)
            end = start + length
            self.look_for_places(end)
            while total > 0:
                attr = Attr(self.data, at)
                ids, nr = struct.unpack_from('<QQ', self.data, at + attr.size)
                attr.ids = list(struct.unpack_from('<%dQ' % (nr // 8), self.data, ids))
                self.attrs.append(attr)
                at += attr_size
                total -= attr_size
        self.zstd, self.rest = None, b''
        self.walk(start, end)
        if self.rest:
            sys.exit('%s: ends inside a packed record' % path)

    def look_for_places(self, sections):
        bits = int.from_bytes(self.data[72:104], 'little')
        if bits >> AUXTRACE_FEATURE & 1:
            before = bin(bits & ((1 << AUXTRACE_FEATURE) - 1)).count('1')
            at, size = struct.unpack_from('<QQ', self.data, sections + 16 * before)
            nr, = struct.unpack_from('<Q', self.data, at)
            if size != 8 + 16 * nr:
                sys.exit('%d places in %d bytes' % (nr, size))
            self.places = [struct.unpack_from('<QQ', self.data, at + 8 + 16 * i) for i in range(nr)]

    def walk(self, at, end):
        while at < end:
            kind, misc, size = struct.unpack_from('<IHH', self.data, at)
            if size < 8 or at + size > end:
                sys.exit('a record of %d bytes at %d overruns the data' % (size, at))
            record = self.data[at:at + size]
            at += size
            if kind == TRACING_DATA:
                at += struct.unpack_from('<I', record, 8)[0]
            elif kind == AUXTRACE:
                length, offset, _, ring, tid, cpu = struct.unpack_from('<3QIii', record, 8)
                self.aux.append((ring, cpu, tid, offset, self.data[at:at + length]))
                at += length
            elif kind == AUXTRACE_INFO:
                self.about = record[16:]
            elif kind == COMPRESSED:
                self.unpack(record[8:])
            elif kind == COMPRESSED2:
                self.unpack(record[16:16 + struct.unpack_from('<Q', record, 8)[0]])
            elif kind == ATTR:
                attr = Attr(record, 8)
                attr.ids = list(struct.unpack('<%dQ' % ((size - 8 - attr.size) // 8),
                                              record[8 + attr.size:]))
                self.attrs.append(attr)
            elif kind == ROUND:
                self.rounds += 1
            elif kind < ATTR:
                self.records.append(record)

    def unpack(self, payload):
        self.zstd = self.zstd or Zstd()
        self.rest += self.zstd.unpack(payload)
        while len(self.rest) >= 8:
            size = struct.unpack_from('<IHH', self.rest)[2]
            if size < 8:
                sys.exit('a packed record of %d bytes' % size)
            if size > len(self.rest):
                return
            self.records.append(self.rest[:size])
            self.rest = self.rest[size:]

    def attr_of(self, record):
        """By the id where it has a fixed place; else all events agree where the time is."""
        for attr in self.attrs:
            if not attr.sample_type & IDENTIFIER:
                return self.attrs[0]
            at = 8 if struct.unpack_from('<I', record)[0] == SAMPLE else len(record) - 8
            if struct.unpack_from('<Q', record, at)[0] in attr.ids:
                return attr
        return self.attrs[0]

    def time_of(self, record):
        attr = self.attr_of(record)
        kinds = attr.sample_type
        if not kinds & TIME:
            return None
        if struct.unpack_from('<I', record)[0] == SAMPLE:
            before = bool(kinds & IDENTIFIER) + bool(kinds & IP) + bool(kinds & TID)
            return struct.unpack_from('<Q', record, 8 + 8 * before)[0]
        if not attr.flags & SAMPLE_ID_ALL:
            return None
        behind = sum(bool(kinds & k) for k in (ID, STREAM_ID, CPU, IDENTIFIER))
        return struct.unpack_from('<Q', record, len(record) - 8 * (behind + 1))[0]


def main():
    what, path = sys.argv[1:3]
    p = Perfdata(path)
    if what == 'records':
        for r in sorted(r.hex() for r in p.records):
            print(r)
    elif what == 'types':
        types = collections.Counter(struct.unpack_from('<I', r)[0] for r in p.records)
        for t in sorted(types):
            print(t, types[t])
    elif what == 'order':
        times = [t for t in map(p.time_of, p.records) if t]
        newest = older = 0
        for t in times:
            older += t < newest
            newest = max(newest, t)
        print(len(times), older)
    elif what == 'comms':
        names, exited = {0: 'swapper'}, set()
        for r in p.records:
            kind = struct.unpack_from('<I', r)[0]
            if kind == SAMPLE:
                # -1: the kernel has let go of the task, which still runs to its end.
                tid = struct.unpack_from('<i', r, 8 + 8 + 8 + 4)[0]
                print(tid, int(tid in exited), names.get(tid, ':%d' % tid))
            elif kind == COMM:
                tid = struct.unpack_from('<I', r, 12)[0]
                names[tid] = r[16:r.index(b'\0', 16)].decode(errors='surrogateescape')
            elif kind in (FORK, EXIT):
                tid, parent = struct.unpack_from('<II', r, 16)
                exited.discard(tid)
                if kind == EXIT:
                    exited.add(tid)
                elif parent in names:
                    names[tid] = names[parent]
    elif what == 'attrs':
        for a in p.attrs:
            print(a.size, a.type, a.config, *sorted(a.ids))
    elif what == 'rounds':
        print(p.rounds)
    elif what == 'aux':
        for *where, trace in p.aux:
            print(*where, len(trace))
    elif what == 'places':
        for at, size in p.places:
            kind, _, told = struct.unpack_from('<IHH', p.data, at)
            print(kind, size if size == told else 'of %d' % told)
    elif what == 'about':
        print(*('%x' % w for w in struct.unpack('<%dQ' % (len(p.about) // 8), p.about)))
    elif what == 'without-cpu':
        data = bytearray(p.data)
        size, at, total = struct.unpack_from('<3Q', data, 16)
        for attr in range(at, at + total, size):
            data[attr + 24] &= ~PERF_SAMPLE_CPU
        with open(sys.argv[3], 'wb') as f:
            f.write(data)
    elif what == 'trace':
        for ring, _, _, _, trace in p.aux:
            if ring == int(sys.argv[3]):
                sys.stdout.buffer.write(trace)


main()
