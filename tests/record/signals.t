#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A signal's handler stands on what it interrupted, and the code between has its name: with glibc, whose call frame
# information begins a byte before that code, and with musl, which has none of it, and whose library here has no symbol
# of it either. gdb knows both by the code.
. "$(dirname "$0")/../lib.sh"
need_command gcc gdb
case $(uname -m) in x86_64) need_command musl-gcc ;; *) skip_all "programs are made for x86-64" ;; esac

cat >work.c <<'C'
#include <signal.h>
#include <sys/time.h>
volatile long v, done;
__attribute__((noinline)) void busy(void) { for (long i = 0; i < 200000000; i++) v += i; }
void handler(int n) { (void)n; busy(); done = 1; }
__attribute__((noinline)) void interrupted(void) { while (!done) v++; }
int main(void)
{
	struct itimerval t = { .it_value.tv_usec = 10000 };
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &t, 0);
	interrupted();
	v++;
	return 0;
}
C

# Of the samples in busy(), the share of a stack.
share() # PATTERN
{
	awk -v pattern="$1" '/;handler;busy / { all += $NF; if ($0 ~ pattern) n += $NF } END { print all ? n / all : 0 }' stacks
}

for how in gcc:-static gcc: musl-gcc:-static musl-gcc:; do
	# shellcheck disable=SC2086 # a flag or none
	"${how%:*}" ${how#*:} -g -O1 -fasynchronous-unwind-tables -fomit-frame-pointer -o work work.c || bail "$how failed"
	# Of musl's stripped library gdb takes that code for the end of setjmp().
	[ "$how" = musl-gcc: ] || is "$(gdb -batch -ex 'handle SIGALRM nostop noprint pass' -ex 'b busy' -ex r -ex bt ./work 2>/dev/null |
		sed -n 's/^#\([0-4]\)  *\(0x[0-9a-f]* in \)\{0,1\}\([^(]*\) (.*/\1 \3/p; s/^#2.*<signal handler called>/2 signal/p' |
		tr '\n' ' ')" "0 busy 1 handler 2 signal 3 interrupted 4 main " "$how: gdb finds what was interrupted"
	exits 0 "$how: recorded" "$SPOOR" record -q -e cpu-clock:u -F 999 --call-graph dwarf -o r.spoor -- ./work
	"$SPOOR" export -f folded -i r.spoor -o stacks 2>err
	in_range "$(share ';main;interrupted;[^;]*;handler;busy ')" 0.98 1 "$how: so does spoor"
	in_range "$(share ';main;interrupted;__restore_rt;handler;busy ')" 0.98 1 "$how: and the code between has its name"
done

done_testing
