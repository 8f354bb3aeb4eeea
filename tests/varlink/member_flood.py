#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a member does to the control socket without end: member_flood.py SOCKET SECONDS WAY...

One process a way, all of them until the time is over. Prints one line: the calls that were answered, the connections that
were made, and the CPU time of all processes in milliseconds.
"""
import os
import socket
import sys
import time

path, seconds, ways = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
end = time.monotonic() + seconds


def call(method, parameters="{}", more=""):
    return b'{"method":"io.spoor.Recorder.%s","parameters":%s%s}\0' % (
        method.encode(), parameters.encode(), more.encode())


CALLS = {
    "status": [call("GetStatus")],
    "refused": [call("Capture", '{"events":["no-such-event"],"duration_s":1}')],
    "captures": [call("Capture", '{"duration_s":0.01}')],
    "groups": [call("Capture", '{"cgroup":"no-such.service","duration_s":0.01}')],
    "keep": [call("Keep", '{"from_s":0,"until_s":4102444800,"label":"flood"}'), call("Rotate")],
    "sync": [call("Sync")],
    "list": [call("List"), call("ListCaptures"), call("Vacuum"), call("Nothing")],
    "odd": [b"odd\0", b"{}\0", b"\xff" * 70000, b'{"method":1}\0'],
}


def connected():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(max(0.01, end - time.monotonic()))
    s.connect(path)
    return s


def answered(s):
    part = b""
    while not part.endswith(b"\0"):
        part = s.recv(1 << 16)
        if not part:
            return False
    return True


def ask(way, counts):
    """Calls on connections that are kept as long as the daemon keeps them."""
    s = connected()
    counts[1] += 1
    with s:
        while time.monotonic() < end:
            for message in CALLS[way]:
                s.sendall(message)
                if not answered(s):
                    return
                counts[0] += 1


def connect(_, counts):
    connected().close()
    counts[1] += 1


def hold(_, counts):
    """As many connections as there is room for, silent, and new ones for those that are closed."""
    held = []
    while time.monotonic() < end:
        try:
            while len(held) < 40:
                held.append(connected())
                held[-1].setblocking(False)
                counts[1] += 1
        except OSError:
            pass
        for s in held[:]:
            try:
                s.recv(1)
            except BlockingIOError:
                continue
            except OSError:
                pass
            s.close()
            held.remove(s)
        time.sleep(0.01)


def unread(_, counts):
    """Answers are asked for, and left where they are."""
    all_of_them = []
    while time.monotonic() < end:
        try:
            if len(all_of_them) < 8:
                all_of_them.append(connected())
                counts[1] += 1
            for s in all_of_them:
                s.setblocking(False)
                s.send(call("GetStatus") * 100 + call("Monitor", "{}", ',"more":true'))
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            all_of_them.clear()


def bytewise(_, counts):
    """Each byte is a wake-up."""
    s = connected()
    counts[1] += 1
    with s:
        for byte in call("GetStatus", '{"x":"' + "x" * 60000 + '"}'):
            if time.monotonic() >= end:
                return
            s.sendall(bytes([byte]))


def run(way):
    counts = [0, 0]
    do = {"connect": connect, "hold": hold, "unread": unread, "bytewise": bytewise}.get(way, ask)
    while time.monotonic() < end:
        try:
            do(way, counts)
        except OSError:
            pass
    return counts


readers = []
for one in ways:
    r, w = os.pipe()
    if os.fork() == 0:
        os.close(r)
        os.write(w, b"%d %d" % tuple(run(one)))
        os._exit(0)
    os.close(w)
    readers.append(r)
totals = [0, 0]
for r in readers:
    totals = [a + int(b) for a, b in zip(totals, os.read(r, 100).split())]
for _ in ways:
    os.wait()
t = os.times()
print(totals[0], totals[1], round((t.user + t.system + t.children_user + t.children_system) * 1000))
