#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# Stacks of a process that gdb stopped, before every instruction of chosen functions of its own and of the C library:
# unwound from registers and a copy of the stack, they have the frames that gdb finds in the process.
. "$(dirname "$0")/../lib.sh"
need_command gdb jq python3 readelf
case $(uname -m) in x86_64) ;; *) skip_all "registers of x86-64" ;; esac

cat >program.c <<'END'
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
typedef double wide __attribute__((vector_size(32)));
static volatile int sink;
APART int at_leaf(int x) { int v[4] = { x, x + 1 }; sink = v[x & 1]; return sink * 3; }
APART int at_room(int n) { char *p = alloca(n * 8 + 1); memset(p, n, n * 8 + 1); sink = p[n]; return at_leaf(n); }
APART int at_many(int a, int b, int c, int d, int e, int f, int g, wide *w)
{
	wide v[g];
	v[0] = *w;
	sink = at_leaf(a + b + c + d + e + f);
	*w = v[0];
	return at_room(g);
}
APART int at_deep(int n) { return n ? at_deep(n - 1) + at_leaf(n) : at_room(3); }
APART int at_order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
APART void at_handler(int s) { sink = at_leaf(s); at_room(2); }
APART double at_big(double a) { char much[9000]; memset(much, 1, sizeof much); sink = much[8999]; return a + at_leaf(2); }
int main(int c, char **v)
{
	int list[12] = { 5, 3, 9, 1, 7, 2, 8, 0, 4, 6, 11, 10 };
	struct sigaction sa = { .sa_handler = at_handler };
	wide w = { 1, 2, 3, 4 };
	char text[100];
	sigaction(SIGUSR1, &sa, 0);
	raise(SIGUSR1);
	at_many(1, 2, 3, 4, 5, 6, c + 3, &w);
	at_deep(9);
	qsort(list, 12, sizeof *list, at_order);
	at_big(w[1]);
	snprintf(text, sizeof text, "%f %s %d", 1.5, v[0], list[3]);
	puts(text);
	free(malloc(100000));
	return 0;
}
END

export DATA=perf.data TRUTH=truth.json
export FUNCTIONS="at_leaf at_room at_many at_deep at_order at_handler at_big qsort_r snprintf puts malloc free"

go_through() # PROGRAM
{
	rm -f perf.data truth.json
	gdb -nx -batch -iex "set debuginfod enabled off" -x "$TOP/tests/oracles/unwind_gdb.py" "./$1" >gdb.out 2>&1
	[ -s truth.json ]
}

compared() # PROGRAM COMPILER OPTION...
{
	local program=$1
	shift
	if ! "$@" -w -o "$program" program.c 2>cc.out; then
		skip "$program: $* cannot" 3
		return
	fi
	go_through "$program" || diag_file gdb.out
	exits 0 "$program: a report of its moments" "$SPOOR" report --json --children --no-inline --sort tid,dso,address -i perf.data
	"$SPOOR" report --json --children --no-inline --sort tid,dso,address -i perf.data >report.json 2>/dev/null
	python3 "$TOP/tests/oracles/unwind_gdb.py" compare truth.json report.json >counts 2>differ
	read -r samples frames same <counts
	diag "$program: $samples moments, $frames frames, $same per mille as gdb has them"
	in_range "${samples:-0}" 150 100000 "$program: many moments"
	in_range "${same:-0}" 995 1000 "$program: the frames are gdb's" || diag_file differ
}

gcc -O2 -w -o probe program.c
go_through probe || skip_all "gdb cannot run a program here"
compared optimized gcc -O2 -fomit-frame-pointer
compared plain gcc -O0
compared framed gcc -O1 -fno-omit-frame-pointer -fcf-protection=none
compared clang clang -O2 -fomit-frame-pointer
compared static gcc -O3 -static-pie -mavx2

done_testing
