#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What takes long says on a terminal how far it is, and takes that away again; elsewhere nothing is said.
. "$(dirname "$0")/../lib.sh"
need_command gcc script

cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <time.h>
ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	static ssize_t (*real)(int, void *, size_t, off64_t);
	struct timespec t = { 0, 15000000 };
	if (!real)
		real = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
	nanosleep(&t, 0);
	return real(fd, p, n, at);
}
ssize_t pread(int fd, void *p, size_t n, off_t at) { return pread64(fd, p, n, at); }
C
gcc -shared -fPIC -o slow.so slow.c || bail "no compiler"
cp "$TOP"/tests/golden/*/plain.spoor one.spoor 2>/dev/null || cp "$(find "$TOP/tests/golden" -name '*.spoor' | sort | head -n 1)" one.spoor
on_terminal() # COMMAND: its output there
{
	script -qec "$1" /dev/null </dev/null | tr '\r' '\n'
}
on_terminal "LD_PRELOAD=$PWD/slow.so \"\$SPOOR\" report --no-pager one.spoor" >slow
like "$(cat slow)" '^Reading: [0-9]+ %' "how far it is"
like "$(cat slow)" '^# Overhead' "and then the report"
is "$(grep -A 1 '^Reading' slow | grep -v '^Reading\|^--' | grep -v '^'$'\033''\[K' | sort -u)" "" "each is written over or wiped"
on_terminal "\"\$SPOOR\" report --no-pager one.spoor" >fast
unlike "$(cat fast)" 'Reading' "not of what is done at once"
LD_PRELOAD=$PWD/slow.so "$SPOOR" report one.spoor >out 2>err
unlike "$(cat out err)" 'Reading' "nor without a terminal"
on_terminal "LD_PRELOAD=$PWD/slow.so \"\$SPOOR\" report --json one.spoor 2>err >out"
unlike "$(cat out err)" 'Reading' "nor when standard error is none"
mkdir archive
for n in 1 2 3; do cp one.spoor "archive/$n.spoor"; done
on_terminal "LD_PRELOAD=$PWD/slow.so \"\$SPOOR\" report --no-pager archive" >slow
like "$(cat slow)" '^Reading: [0-9]+ %' "an archive"
done_testing
