#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# stuckfs.py DIRECTORY [OPCODE...]: mounts a file system with one file, "file", that everybody may write,
# and from SIGUSR2 on never answers these requests of FUSE (16 a write, 25 a flush), until it gets SIGUSR1;
# then it answers all. Needs root and /dev/fuse. Ends when it is unmounted, or by another signal.
import ctypes
import os
import signal
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, WRITE, RELEASE, FLUSH, INIT, OPENDIR, READDIR = 1, 2, 3, 4, 14, 16, 18, 25, 26, 27, 28
FSYNC, BATCH_FORGET, RELEASEDIR, ACCESS, INTERRUPT, DESTROY, FALLOCATE = 20, 42, 29, 34, 36, 38, 43
ENOENT, ENOSYS = 2, 38


def attr(node):
    mode = 0o40755 if node == 1 else 0o100666
    return struct.pack("=QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def reply(fd, unique, error=0, data=b""):
    try:
        os.write(fd, struct.pack("=IiQ", 16 + len(data), -error, unique) + data)
    except OSError:
        pass  # it was interrupted, and its requester is gone


def answer(fd, op, unique, node, body):
    if op == INIT:
        reply(fd, unique, 0, struct.pack("=IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 9, 131072, 1, 0, 0, 0, *[0] * 7))
    elif op == LOOKUP:
        if node == 1 and body.rstrip(b"\0") == b"file":
            reply(fd, unique, 0, struct.pack("=QQQQII", 2, 0, 0, 0, 0, 0) + attr(2))
        else:
            reply(fd, unique, ENOENT)
    elif op in (GETATTR, SETATTR):
        reply(fd, unique, 0, struct.pack("=QII", 0, 0, 0) + attr(node))
    elif op in (OPEN, OPENDIR):
        reply(fd, unique, 0, struct.pack("=QII", 0, 1, 0))
    elif op == WRITE:
        reply(fd, unique, 0, struct.pack("=II", struct.unpack_from("=QQI", body)[2], 0))
    elif op in (FLUSH, RELEASE, RELEASEDIR, FSYNC, ACCESS, READDIR):
        reply(fd, unique)
    elif op not in (FORGET, BATCH_FORGET, INTERRUPT, DESTROY):
        reply(fd, unique, ENOSYS)


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    directory, stuck = sys.argv[1], set()
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"stuckfs", directory.encode(), b"fuse", 0, options) < 0:
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    waiting = []

    def release(_number, _frame):
        stuck.clear()
        while waiting:
            answer(fd, *waiting.pop())

    signal.signal(signal.SIGUSR1, release)
    signal.signal(signal.SIGUSR2, lambda _number, _frame: stuck.update(int(op) for op in sys.argv[2:]))
    while True:
        try:
            request = os.read(fd, 1 << 18)
        except OSError as e:
            if e.errno == ENOENT:
                continue
            break
        _, op, unique, node = struct.unpack_from("=IIQQ", request)
        one = (op, unique, node, request[40:])
        if op in stuck:
            waiting.append(one)
        else:
            answer(fd, *one)


main()
