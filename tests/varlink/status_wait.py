#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the control socket takes to answer GetStatus: status_wait.py SOCKET PID.

Prints one line: the milliseconds, without those in which this process or the loop of spoord (PID, its first thread) was ready
and had no CPU, as proc_pid_schedstat(5) has them, and the sampling frequency. What else the machine runs is not spoord's doing.
"""
import json
import socket
import sys
import time

path, pid = sys.argv[1:]


def without_cpu_ns():
    total = 0
    for name in ("/proc/self/schedstat", "/proc/%s/task/%s/schedstat" % (pid, pid)):
        with open(name) as f:
            total += int(f.read().split()[1])
    return total


begun, delayed = time.monotonic_ns(), without_cpu_ns()
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect(path)
s.sendall(b'{"method":"io.spoor.Recorder.GetStatus"}\0')
answer = b""
while not answer.endswith(b"\0"):
    part = s.recv(1 << 16)
    if not part:
        sys.exit("no answer")
    answer += part
took = time.monotonic_ns() - begun - (without_cpu_ns() - delayed)
print(max(took, 0) // 1000000, json.loads(answer[:-1])["parameters"]["frequency_hz"])
