# SPDX-License-Identifier: GPL-2.0-or-later
"""
many_addresses.py FILE SAMPLES DISTINCT OBJECT...: a perf.data (pipe mode) of samples at random places of these ELF
files: a process each, 64 CPUs at 1000 Hz. Prints how many distinct addresses there are.
"""
import random
import struct
import subprocess
import sys

SAMPLE_TYPE = 1 << 16 | 1 | 2 | 4 | 1 << 7 | 1 << 8  # IDENTIFIER IP TID TIME CPU PERIOD
SAMPLE_ID_ALL, FREQ, MMAP2_BUILD_ID = 1 << 18, 1 << 10, 1 << 14
BASE, STEP, FIRST_PID, CPUS = 0x7f0000000000, 1 << 32, 1000, 64
PIPE_HEADER = struct.pack('<8sQ', b'PERFILE2', 16)


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def padded(text):
    return text + bytes(8 - len(text) % 8)


def event():
    attr = struct.pack('<IIQQQQQ', 1, 112, 0, 1000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL | FREQ).ljust(112, b'\0')
    return record(64, 0, attr + struct.pack('<Q', 1))


def trailer(pid):
    return struct.pack('<IIQQIIQ', pid, pid, 1, 1, 0, 0, 1)[:-8]


def text_of(path):
    """Of .text: its address, offset and size."""
    lines = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout.split('\n')
    w = next(x for x in lines if '] .text ' in x).partition('.text')[2].split()
    return int(w[1], 16), int(w[2], 16), int(w[3], 16)


def build_id(path):
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(notes.partition('Build ID: ')[2].split('\n')[0])


def state(number, path, begin, length):
    pid = FIRST_PID + number
    name = padded(path.rpartition('/')[2][:15].encode())
    comm = record(3, 1 << 13, struct.pack('<II', pid, pid) + name + trailer(pid))
    identity = build_id(path)
    body = struct.pack('<IIQQQ4B20sII', pid, pid, BASE + number * STEP, length, begin, len(identity), 0, 0, 0, identity, 5, 2)
    return comm + record(10, 2 | MMAP2_BUILD_ID, body + padded(path.encode()) + trailer(pid))


def main():
    file, samples, distinct, objects = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    pick = random.Random(7)
    places = []
    with open(file, 'wb') as out:
        out.write(PIPE_HEADER + event())
        for number, path in enumerate(objects):
            _, offset, size = text_of(path)
            begin = offset & ~0xfff
            length = (offset + size + 0xfff & ~0xfff) - begin
            out.write(state(number, path, begin, length))
            base = BASE + number * STEP + offset - begin
            share = range(number, distinct, len(objects))
            places += [(base + at, FIRST_PID + number) for at in pick.sample(range(size), len(share))]
        one = struct.Struct('<IHHQQIIQIIQ')
        for i in range(samples):
            ip, pid = places[i] if i < distinct else pick.choice(places)
            out.write(one.pack(9, 2, one.size, 1, ip, pid, pid, 2 + i * 1000000 // CPUS, i % CPUS, 0, 1000000))
    print(len(places))


if __name__ == '__main__':
    main()
