# SPDX-License-Identifier: GPL-2.0-or-later
import re
import threading


def match(n):
    return sum(len(re.sub("a+", "b", "xaay" * n)) for _ in range(200))


sum(match(n) for n in range(300))
for _ in range(300):
    open("/proc/self/status").read(), open("/proc/self/maps").read()
threads = [threading.Thread(target=lambda k=k: [match(n) for n in range(k, 150, 3)]) for k in range(3)]
[t.start() for t in threads], [t.join() for t in threads]
