#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile messages for spoord's control socket: hostile.py SOCKET COUNT SEED.

Broken JSON, huge and deep messages, wrong types, slow and half-closed connections, floods of
connections, descriptors that nobody asked for, clients that do not read or leave a capture behind.
Nothing is expected of the answers but that the daemon gives or refuses them.
"""
import array
import json
import os
import random
import socket
import sys

PATH, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
R = "io.spoor.Recorder."
METHODS = ["GetStatus", "Monitor", "StopCapture", "ListCaptures", "List", "Nothing", "Capture", "Keep", "Vacuum"]
rng = random.Random(SEED)
slow = []
sent = 0


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.settimeout(5)
    s.connect(PATH)
    return s


def value(depth=0):
    kind = rng.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([0, -1, 1, 2**31, 2**63 - 1, -(2**63), 2**70])
    if kind == 1:
        return rng.choice([0.5, -1e300, 1e308, 5e-324])
    if kind == 2:
        return rng.choice(["", "x", "../../etc/shadow", "/etc/shadow", "\0", "\u202e", "x" * 5000, "cycles"])
    if kind == 3:
        return rng.choice([None, True, False])
    if kind < 6:
        return rng.choice(["0-99999999999", "dwarf,999999", "kprobes:x", "mem:0/8:rwx", "%s%n"])
    if kind == 6:
        return [value(depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "id", "pids", ""]): value(depth + 1)}


def call():
    """Well-formed, with parameters that are mostly nonsense; never one that would succeed in harm."""
    method = rng.choice(METHODS)
    keys = ["id", "duration_s", "pids", "tids", "cgroup", "cpus", "events", "label", "from_s", "skip", "interval_s",
            "max_use_bytes", "file_descriptor", "call_graph", "period", "x"]
    parameters = {k: value() for k in rng.sample(keys, rng.randrange(1, 5))}
    if method in ("Capture", "Keep", "Vacuum"):
        parameters["nonsense"] = 1
    message = {"method": R + method, "parameters": parameters}
    for flag in ("more", "oneway", "upgrade"):
        if rng.random() < 0.1:
            message[flag] = rng.choice([True, False, None, 1, "yes"])
    return json.dumps(message).encode() + b"\0"


def broken():
    good = bytearray(call())
    for _ in range(rng.randrange(1, 6)):
        good[rng.randrange(len(good))] = rng.randrange(256)
    return bytes(good) + b"\0"


def deep():
    n = rng.choice([9, 100, 5000, 30000])
    return b'{"method":"a.B","parameters":' + b'{"x":' * (n // 5) + b"[" * n + b"\0"


def huge():
    return b'{"method":"' + b"x" * rng.choice([65536, 200000]) + b'"}\0'


def duplicate():
    return b'{"method":"a.B","method":"a.C"}\0'


def talk(data):
    """One connection: many of these are answered, or it is closed in the middle."""
    s = connect()
    try:
        s.sendall(data)
        how = rng.randrange(4)
        if how == 0:
            s.shutdown(socket.SHUT_WR)
        if how < 2:
            s.settimeout(0.05)
            s.recv(65536)
    except OSError:
        pass
    s.close()


def descriptors():
    s = connect()
    fds = [os.open("/dev/null", os.O_RDWR) for _ in range(rng.randrange(1, 20))]
    try:
        s.sendmsg([rng.choice([b"{", call(), broken()])],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    except OSError:
        pass
    for fd in fds:
        os.close(fd)
    s.close()


def start_slow():
    s = connect()
    s.setblocking(False)
    slow.append(s)
    while len(slow) > 20:
        slow.pop(0).close()


def step_slow():
    for s in list(slow):
        try:
            s.send(b"{")
        except OSError:
            slow.remove(s)
            s.close()


def deaf():
    """Asks and asks, and never reads."""
    s = connect()
    s.settimeout(0.02)
    asked = 0
    try:
        while asked < 3000:
            s.sendall(b'{"method":"org.varlink.service.GetInterfaceDescription",'
                      b'"parameters":{"interface":"io.spoor.Recorder"}}\0')
            asked += 1
    except OSError:
        pass
    s.close()
    return asked


def leave_capture():
    """Starts one that has no duration, and goes."""
    s = connect()
    s.sendall(json.dumps({"method": R + "Capture", "more": True}).encode() + b"\0")
    try:
        s.recv(1)
    except OSError:
        pass
    s.close()


while sent < COUNT:
    try:
        kind = rng.random()
        if kind < 0.0005:
            leave_capture()
            sent += 1
        elif kind < 0.005:
            sent += deaf()
        elif kind < 0.02:
            many = [connect() for _ in range(100)]
            for s in many:
                s.close()
            sent += len(many)
        elif kind < 0.1:
            start_slow()
            step_slow()
            sent += 1
        elif kind < 0.2:
            descriptors()
            sent += 1
        else:
            parts = [rng.choice([call, broken, deep, huge, duplicate])() for _ in range(rng.randrange(1, 12))]
            talk(b"".join(parts))
            sent += len(parts)
    except (ConnectionError, BlockingIOError, socket.timeout):
        pass
for s in slow:
    s.close()
print(sent)
