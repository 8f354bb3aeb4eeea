#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# load.sh repetitive|mixed|hostile: keeps every CPU busy until a signal to its process group ends it.
#   repetitive  dd and yes: few stacks, most of them the kernel's
#   mixed       python and xz: some thousand stacks, many of them garbage for want of frame pointers
#   hostile     short processes of gcc, g++, python, tar, gzip, find: hardly a stack comes twice
set -eu
load=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 0' TERM INT
cd "$here"

repetitive_0() { exec dd if=/dev/zero of=/dev/null bs=4k; }
repetitive_1() { exec yes >/dev/null; }

mixed_0()
{
	exec python3 -c '
import json
d = {str(i): [i] * 3 for i in range(20000)}
while True:
    json.loads(json.dumps(d))
    sorted(d.values())
'
}
mixed_1() { while xz -6 -c "$(gcc -print-prog-name=cc1)"; do :; done >/dev/null; }

hostile_0()
{
	while :; do
		echo 'int main(void) { return 0; }' | gcc -O1 -x c -c -o "$1.c.o" -
		python3 -c 'import json, re, email'
		tar cf - /usr/include/linux 2>/dev/null | gzip >/dev/null
		printf '#include <%s>\n' iostream map string | g++ -O1 -x c++ -c -o "$1.cc.o" -
		find /usr/share/doc >/dev/null
	done
}
hostile_1()
{
	while :; do
		printf '#include <regex>\nstd::regex r("a+");\n' | g++ -O1 -x c++ -c -o "$1.r.o" -
		for _ in 1 2 3 4 5 6 7 8 9 10; do /bin/true; ls /usr/lib >/dev/null; done
		python3 -c 'import argparse, unittest'
	done
}

for ((cpu = 0; cpu < $(nproc); cpu++)); do
	"${load}_$((cpu % 2))" "$cpu" 2>/dev/null &
done
wait
