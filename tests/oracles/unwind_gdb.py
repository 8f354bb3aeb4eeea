# SPDX-License-Identifier: GPL-2.0-or-later
"""
gdb -nx -batch -x unwind_gdb.py PROGRAM: runs the program, goes through the functions of $FUNCTIONS instruction by
instruction, over what they call, and writes each moment as a sample with its registers and a copy of its stack to
$DATA (perf.data in pipe mode; its tid is the number of the sample). To $TRUTH go the frames as gdb sees them then.

unwind_gdb.py compare TRUTH REPORT: with the rows of spoor report --json --children --sort tid,dso,address; prints the
samples, the frames, the per mille of them that both have, and to stderr some samples that differ.

Made from perf's description of its formats, and nothing of spoor's.
"""
import json
import os
import struct
import subprocess
import sys

REGISTERS = ('rax rbx rcx rdx rsi rdi rbp rsp rip eflags cs ss r8 r9 r10 r11 r12 r13 r14 r15').split()
MASK = 0xff0fff  # of perf_regs.h: without ds, es, fs, gs
SAMPLE_TYPE = 1 << 16 | 1 | 2 | 4 | 1 << 12 | 1 << 13  # IDENTIFIER IP TID TIME REGS_USER STACK_USER
STACK_BYTES = 16384
VISITS = 5  # of a function
STEPS = 400  # of a visit


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def padded(text):
    return text + bytes(8 - len(text) % 8)


def attribute():
    attr = struct.pack('<IIQQQQQIIQQQQIi', 1, 112, 0, 1, SAMPLE_TYPE, 0, 1 << 18, 0, 0, 0, 0, 0, MASK, STACK_BYTES, 0)
    machine = struct.pack('<QI', 6, 64) + b'x86_64'.ljust(64, b'\0')  # HEADER_ARCH
    return record(64, 0, attr.ljust(112, b'\0') + struct.pack('<Q', 1)) + record(80, 0, machine.ljust(80, b'\0'))


def build_id(path):
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=False).stdout
    return bytes.fromhex(notes.partition('Build ID: ')[2].split('\n')[0])


def code_maps(pid):
    """Of its files: start, end, offset, path."""
    with open(f'/proc/{pid}/maps') as f:
        for line in f:
            w = line.split()
            if 'x' in w[1] and w[-1].startswith('/'):
                start, end = (int(x, 16) for x in w[0].split('-'))
                yield start, end, int(w[2], 16), w[-1]


def mmap2(pid, start, end, offset, path):
    identity = build_id(path)
    body = struct.pack('<IIQQQ4B20sII', pid, pid, start, end - start, offset, len(identity), 0, 0, 0, identity, 5, 2)
    return record(10, 2 | 1 << 14, body + padded(path.encode()) + struct.pack('<IIQQ', pid, pid, 1, 1))


def segments(path):
    """Of code: offset, address, size."""
    out = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True, check=True).stdout
    for line in out.split('\n'):
        w = line.split()
        if w[:1] == ['LOAD'] and 'E' in ''.join(w[6:-1]):
            yield int(w[1], 16), int(w[2], 16), int(w[4], 16)


class Recorder:
    def __init__(self, gdb, out):
        self.gdb, self.out, self.truth = gdb, out, []
        self.process = gdb.selected_inferior()
        self.pid = self.process.pid
        with open(f'/proc/{self.pid}/maps') as f:
            self.stack_end = next(int(x.split()[0].split('-')[1], 16) for x in f if '[stack]' in x)
        self.maps = [(*m, list(segments(m[3]))) for m in code_maps(self.pid)]
        out.write(struct.pack('<8sQ', b'PERFILE2', 16) + attribute())
        for m in self.maps:
            out.write(mmap2(self.pid, *m[:4]))

    def place(self, pc):
        for start, end, offset, path, loads in self.maps:
            at = pc - start + offset
            for begin, address, size in loads:
                if start <= pc < end and begin <= at < begin + size:
                    return [os.path.basename(path), address + at - begin]
        return ['[unknown]', pc]

    def sample(self):
        frame = self.gdb.newest_frame()
        values = [int(frame.read_register(r)) & (1 << 64) - 1 for r in REGISTERS]
        pc, sp = values[8], values[7]
        frames = []
        while frame is not None:
            # Of functions that are not on the stack gdb knows by debug information.
            if frame.type() not in (self.gdb.INLINE_FRAME, self.gdb.TAILCALL_FRAME):
                frames.append(self.place(frame.pc()))
            frame = frame.older()
        stack = bytes(self.process.read_memory(sp, min(STACK_BYTES, self.stack_end - sp) & ~7))
        number = len(self.truth) + 1
        self.truth.append(frames)
        self.out.write(record(9, 2, struct.pack('<QQIIQ', 1, pc, self.pid, number, 1 + number)
                              + struct.pack(f'<Q{len(values)}Q', 2, *values)
                              + struct.pack('<Q', STACK_BYTES) + stack.ljust(STACK_BYTES, b'\0')
                              + struct.pack('<Q', len(stack))))


def range_of(gdb, pc):
    """Of the function at pc, by its frame description or symbol."""
    text = gdb.execute(f'info symbol {pc}', to_string=True)
    begin = pc - int(text.split(' + ')[1].split()[0]) if ' + ' in text else pc
    return text.split()[0], begin


def go_through(gdb, recorder):
    """From the first instruction of a function until it has returned."""
    name, _ = range_of(gdb, int(gdb.newest_frame().pc()))
    top = int(gdb.newest_frame().read_register('rsp'))
    for _ in range(STEPS):
        recorder.sample()
        gdb.execute('nexti', to_string=True)
        if not gdb.selected_inferior().pid:
            return
        frame = gdb.newest_frame()
        if int(frame.read_register('rsp')) > top or name not in range_of(gdb, int(frame.pc()))[0]:
            recorder.sample()
            return


def run():
    import gdb
    for text in ('pagination off', 'confirm off', 'backtrace past-main on', 'disable-randomization on', 'startup-with-shell off'):
        gdb.execute('set ' + text)
    gdb.execute('handle SIGUSR1 nostop noprint pass', to_string=True)
    gdb.execute('break main', to_string=True)
    gdb.execute('run >/dev/null', to_string=True)
    functions = {f: VISITS for f in os.environ['FUNCTIONS'].split()}
    for f in functions:
        # At its first instruction, not behind the prologue.
        gdb.execute(f'break *{f}', to_string=True)
    with open(os.environ['DATA'], 'wb') as out:
        recorder = Recorder(gdb, out)
        while gdb.selected_inferior().pid:
            here = range_of(gdb, int(gdb.newest_frame().pc()))[0]
            if functions.get(here, 0) > 0:
                functions[here] -= 1
                gdb.execute('disable', to_string=True)
                go_through(gdb, recorder)
                gdb.execute('enable', to_string=True)
            if gdb.selected_inferior().pid:
                gdb.execute('continue', to_string=True)
    with open(os.environ['TRUTH'], 'w') as f:
        json.dump(recorder.truth, f)


def compare(truth, report):
    with open(truth) as f:
        theirs = json.load(f)
    with open(report) as f:
        rows = json.load(f)['rows']
    ours = [set() for _ in theirs]
    for row in rows:
        ours[row['tid'] - 1].add((row['dso'], int(row['address'], 16)))
    frames = same = told = 0
    for number, (a, b) in enumerate(zip(theirs, ours)):
        a = {tuple(x) for x in a}
        frames += max(len(a), len(b))
        same += len(a & b)
        if a != b and told < 12:
            told += 1
            texts = [' '.join(f'{d}+{x:#x}' for d, x in c) for c in (theirs[number], a - b, b - a)]
            print(f'# sample {number + 1}: {texts[0]}: ours lacks {texts[1] or "none"}, has {texts[2] or "none"} more', file=sys.stderr)
    print(len(theirs), frames, same * 1000 // max(frames, 1))


if __name__ == '__main__' and sys.argv[1:2] == ['compare']:
    compare(*sys.argv[2:])
else:
    run()
