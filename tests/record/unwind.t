#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# Copied stacks (--call-graph dwarf) of programs without frame pointers have all their callers: those of their
# twins that have frame pointers, and those that perf finds.
. "$(dirname "$0")/../lib.sh"
need_command perf jq
need_record_all
case $(uname -m) in x86_64) ;; *) skip_all "programs without frame pointers are for x86-64" ;; esac

cat >work.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
static unsigned spin(unsigned n) { while (n--) sink = sink * 69069 + 1; return sink; }
APART unsigned leaf(unsigned n) { return spin(n) + 1; }
APART unsigned middle(unsigned n) { unsigned char room[n % 64 + 16]; memset(room, 1, sizeof room); return leaf(n) + room[3]; }
APART unsigned deep(unsigned n) { return n ? deep(n - 1) + 1 : middle(4000); }
APART int order(const void *a, const void *b) { return leaf(20) ? *(const int *)a - *(const int *)b : 0; }
APART void insertion(int *v, int n, int (*compare)(const void *, const void *))
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && compare(&v[j - 1], &v[j]) > 0; j--) { int t = v[j]; v[j] = v[j - 1]; v[j - 1] = t; }
}
APART void sorts(void)
{
	int v[64];
	for (int i = 0; i < 64; i++) v[i] = (i * 37) % 64;
	qsort(v, 5, sizeof *v, order);
	insertion(v, 40, order);
}
APART void on_alarm(int s) { middle(300000 + s); }
int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 50000 }, { 0, 50000 } };
	struct timespec now, end;

	/* Of the CPU time: of the time of day a busy machine has more alarms for less work, and so another split. */
	signal(SIGPROF, on_alarm);
	setitimer(ITIMER_PROF, &every, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	/* Whole seconds, wherever in a second it begins. */
	end.tv_sec += argc > 1 ? atoi(argv[1]) : 2;
	do {
		deep(20);
		sorts();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	return 0;
}
END
cc=${CC:-gcc}
ok "a program" "$cc" -w -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o bare work.c
ok "its twin with frame pointers" "$cc" -w -O2 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -o framed work.c

# Share of the samples below main whose stack has a function, "SHARE FUNCTION".
inclusive() # FOLDED
{
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; split($0, f, ";"); delete seen; f[1] = "main"
		for (i in f) if (!(f[i] in seen)) { seen[f[i]]; of[f[i]] += n } }
		END { for (i in of) printf "%.4f %s\n", of[i] / all, i }' "$1" | sort -rn
}

share() # FOLDED PATTERN: of the samples whose stack it matches
{
	awk -v p="$2" '{ all += $NF; if ($0 ~ p) n += $NF } END { printf "%.4f\n", all ? n / all : 0 }' "$1"
}

# Often: the handler has one sample of 140.
exits 0 "recorded" "$SPOOR" record -F 4999 --call-graph dwarf -o bare.spoor -- ./bare
exits 0 "and its twin" "$SPOOR" record -F 4999 -g -o framed.spoor -- ./framed
exits 0 "folded" "$SPOOR" export -f folded --no-inline -o bare.folded bare.spoor
exits 0 "and its twin" "$SPOOR" export -f folded --no-inline -o framed.folded framed.spoor
grep 'main;' bare.folded >bare.main
grep 'main;' framed.folded >framed.main

in_range "$(share bare.folded ';main(;|\x20)')" 0.97 1 "every stack leads to main"
in_range "$(share bare.folded '^[^;]*;_start;__libc_start_main[^;]*;[^;]*;main(;|\x20)')" 0.97 1 "and behind it to _start"
in_range "$(grep ';deep;' bare.main | share /dev/stdin "main;$(printf 'deep;%.0s' {0..20})middle;leaf")" 0.9 1 "a recursion is as deep as it is"
in_range "$(grep 'sort_[^ ]*;order' bare.main | share /dev/stdin 'main;sorts;([^ ]*;)?order')" 0.99 1 "through qsort of the C library"
in_range "$(grep ';on_alarm' bare.main | share /dev/stdin 'main;.*on_alarm;middle;leaf')" 0.9 1 "a signal's handler stands on what it interrupted"

# The top ten of both: the same functions, about as often.
inclusive bare.main >bare.top
inclusive framed.main >framed.top
awk 'NR == FNR { of[$2] = $1; next } $1 > 0.05 && ++n <= 10 { d = $1 - of[$2]; if (d < 0) d = -d
	if (d > 0.08) { bad = 1; print $2, $1, of[$2] } } END { exit bad || n < 5 }' bare.top framed.top >differ
is "$?" 0 "the twin's top functions are ours"
[ ! -s differ ] || diag "$(cat differ)"

is "$("$SPOOR" report --json --children -i bare.spoor | jq '.unwound | .stacks == .end + .cut + .short + .no_map + .no_cfi + .bad_cfi + .limit + .refused and
	.end >= 0.97 * .stacks and .stacks > 200 and .frames > 5 * .stacks')" true "the counts add up"
like "$("$SPOOR" report --children -i bare.spoor)" "[0-9.]+ % of [0-9]+ copied stacks are whole" "and are told"
is "$("$SPOOR" report --no-children --json -i bare.spoor | jq .unwound.stacks)" 0 "without callers nothing is unwound"

# Too few bytes.
exits 0 "recorded with short copies" "$SPOOR" record -F 999 --call-graph dwarf,256 -o short.spoor -- ./bare 1
is "$("$SPOOR" report --json --children -i short.spoor 2>err | jq '.unwound.cut > .unwound.end')" true "short copies are cut"
like "$(cat err)" "% end at the copied 256 bytes" "which is said"

# Another build has other rules.
mkdir -p root
cp --parents "$PWD/bare" root
ok "another build" "$cc" -w -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o bare work.c
is "$("$SPOOR" report --json --children -i bare.spoor 2>/dev/null | jq '.unwound | .end < 0.05 * .stacks and .no_cfi > 0.9 * .stacks')" true \
	"nothing is unwound by the rules of another build"
is "$("$SPOOR" report --json --children -i bare.spoor 2>err | jq '.unwound |
	([.places[] | select(.end == "no_cfi" and .object == "bare") | .stacks] == [.no_cfi])')" true "which is told of this file"
like "$(cat err)" ' % end in code with neither .* \([0-9.]+ % in bare\)' "in words as well"
below=$("$SPOOR" report --json --children -i bare.spoor --symfs root 2>err | jq -c .unwound)
is "$(jq '.end >= 0.97 * .stacks' <<<"$below")" true "the recorded one is found below --symfs" ||
	{ diag "$below"; diag_file err; }

# Rules that only the file with debug information has: beside a stripped program, and when that is gone.
mkdir apart
ok "a program with .debug_frame alone" "$cc" -w -O2 -g -fno-asynchronous-unwind-tables -fomit-frame-pointer \
	-fno-optimize-sibling-calls -Wl,--build-id -o apart/bare work.c
id=$(readelf -n apart/bare | awk '/Build ID:/ { print $3 }')
mkdir -p "debug/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug apart/bare "debug/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
strip apart/bare
cp --parents "$PWD/apart/bare" debug
exits 0 "recorded" "$SPOOR" record -F 999 --call-graph dwarf -o apart.spoor -- apart/bare
unwound() # WHAT JQ-CONDITION OPTION...
{
	local what=$1 condition=$2
	shift 2
	is "$("$SPOOR" report --json --children -i apart.spoor "$@" 2>/dev/null | jq ".unwound | $condition")" true "$what" ||
		diag "$("$SPOOR" report --json --children -i apart.spoor "$@" 2>/dev/null | jq -c .unwound)"
}
unwound "a stripped program has no rules, but its code" '.end >= 0.97 * .stacks'
unwound "those of its debug file are taken" '.end >= 0.97 * .stacks' --symfs debug
rm apart/bare "debug$PWD/apart/bare"
unwound "also when the program is gone" '.end >= 0.97 * .stacks' --symfs debug
unwound "without both there is nothing" '.end < 0.05 * .stacks'

# Code that nothing tells of but itself, as of musl and of assembler: what it does to the stack is followed to its return.
ok "a program without call frame information" "$cc" -w -O2 -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer \
	-fno-optimize-sibling-calls -o untold work.c
exits 0 "recorded" "$SPOOR" record -F 999 --call-graph dwarf -o untold.spoor -- ./untold
is "$("$SPOOR" report --json --children -i untold.spoor | jq '.unwound | .stacks > 200 and .end >= 0.97 * .stacks')" true "its stacks are whole" ||
	diag "$("$SPOOR" report --json --children -i untold.spoor | jq -c .unwound)"
exits 0 "and folded" "$SPOOR" export -f folded --no-inline -o untold.folded untold.spoor
in_range "$(grep ';deep;' untold.folded | share /dev/stdin "main;$(printf 'deep;%.0s' {0..20})middle;leaf")" 0.9 1 "and as deep as they are"
if command -v musl-gcc >/dev/null; then
	ok "a program of musl" musl-gcc -w -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o ofmusl work.c
	exits 0 "recorded" "$SPOOR" record -F 999 --call-graph dwarf -o ofmusl.spoor -- ./ofmusl
	is "$("$SPOOR" report --json --children -i ofmusl.spoor | jq '.unwound | .stacks > 200 and .end >= 0.97 * .stacks')" true "its stacks are whole" ||
		diag "$("$SPOOR" report --json --children -i ofmusl.spoor | jq -c .unwound)"
else
	skip "no musl-gcc" 3
fi

# The stack of a coroutine ends where makecontext() has it begin.
cat >coroutine.c <<'END'
#include <stdlib.h>
#include <ucontext.h>
static volatile unsigned sink;
static ucontext_t one, other;
__attribute__((noinline, noclone)) unsigned leaf(unsigned n) { while (n--) sink = sink * 69069 + 1; return sink; }
static void work(void) { for (;;) { leaf(100000); swapcontext(&other, &one); } }
int main(void)
{
	getcontext(&other);
	other.uc_stack.ss_sp = malloc(65536);
	other.uc_stack.ss_size = 65536;
	other.uc_link = &one;
	makecontext(&other, work, 0);
	for (int i = 0; i < 5000; i++)
		swapcontext(&one, &other);
	return 0;
}
END
ok "a coroutine" "$cc" -O2 -fomit-frame-pointer -o coroutine coroutine.c
exits 0 "recorded" "$SPOOR" record -F 999 --call-graph dwarf -o coroutine.spoor -- ./coroutine
is "$("$SPOOR" report --json --children -i coroutine.spoor | jq '.unwound | .stacks > 100 and .end >= 0.97 * .stacks')" true "its stacks are whole" ||
	diag "$("$SPOOR" report --json --children -i coroutine.spoor | jq -c .unwound)"

# A 32-bit process. It needs no library: those for it may not be here.
cat >narrow.c <<'END'
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
APART unsigned leaf(unsigned n) { while (n--) sink = sink * 69069 + 1; return sink; }
APART unsigned middle(unsigned n) { volatile char room[40]; room[n % 40] = 1; return leaf(n) + room[3]; }
APART unsigned deep(unsigned n) { return n ? deep(n - 1) + 1 : middle(200000); }
APART unsigned realigned(unsigned n) { volatile int v[8] __attribute__((aligned(64))); v[n % 8] = 1; return leaf(n) + v[1]; }
APART void work(void) { for (int i = 0; i < 700; i++) { deep(9); realigned(300000); } }
void _start(void) { work(); __asm__ volatile("int $0x80" : : "a"(1), "b"(0)); }
END
if "$cc" -w -m32 -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -nostdlib -static -fno-pic -no-pie -o narrow narrow.c 2>cc.out &&
	./narrow 2>>cc.out; then
	exits 0 "a 32-bit process is recorded" "$SPOOR" record -F 999 --call-graph dwarf -o narrow.spoor -- ./narrow
	exits 0 "and folded" "$SPOOR" export -f folded --no-inline -o narrow.folded narrow.spoor
	in_range "$(share narrow.folded '^narrow;(_start;)?work;')" 0.97 1 "its stacks lead to where it began"
	in_range "$(grep ';deep;' narrow.folded | share /dev/stdin "work;$(printf 'deep;%.0s' {0..9})middle;leaf")" 0.95 1 "through a recursion"
	in_range "$(grep ';realigned' narrow.folded | share /dev/stdin 'work;realigned(;leaf)?[^;]*$')" 0.95 1 "and a stack that was realigned"
	is "$("$SPOOR" report --json --children -i narrow.spoor 2>/dev/null | jq '.unwound | .refused == 0 and .stacks > 100')" true "and are counted"
else
	skip "no 32-bit programs: $(head -n 1 cc.out)" 6
fi

# The clock is read in the vDSO, which is no file.
cat >clock.c <<'END'
#include <time.h>
int main(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (time_t end = now.tv_sec + 2; now.tv_sec < end;)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}
END
ok "a program" "$cc" -O2 -fomit-frame-pointer -o clock clock.c
exits 0 "recorded" "$SPOOR" record -F 999 --call-graph dwarf -o clock.spoor -- ./clock
"$SPOOR" export -f folded --no-inline clock.spoor >clock.folded 2>/dev/null
if grep -q vdso clock.folded; then
	in_range "$(grep vdso clock.folded | share /dev/stdin ';main;.*vdso')" 0.97 1 "through the vDSO"
else
	skip "no sample in the vDSO" 1
fi

# perf's own recording, and what perf makes of it; what perf makes of ours. Where it sees no tasks: it would take the files
# of one from that one's root, and the number of an ended one may be another's by now.
perf_alone()
{
	if [ "$(id -u)" -eq 0 ]; then unshare --pid --fork --mount-proc perf "$@"; else perf "$@"; fi
}

perf_stacks() # PERF.DATA: the leaf last, a line each
{
	perf_alone script --no-inline -i "$1" -F comm,ip,sym 2>/dev/null | awk 'BEGIN { RS = ""; FS = "\n" }
		{ s = ""; for (i = NF; i > 1; i--) { split($i, w, " "); sub(/[@+].*/, "", w[2]); s = s ";" w[2] } print s }' | sort
}

our_stacks() # FOLDED: likewise
{
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/^[^;]*/, ""); gsub(/@[^;]*/, ""); gsub(/_\[k\]/, ""); while (n--) print }' "$1" | sort
}

# Below main: of some processes perf knows no caller of __libc_start_call_main, as its addresses fall. Through a signal's
# handler it finds none at times; on a busy machine those are more. Without maps of data it has next to no stack.
below_main() # STACKS
{
	sed 's/^.*;__libc_start_call_main;main/;main/' "$1" | sort
}

same_stacks() # WHAT: those of perf.stacks and our.stacks
{
	local same
	same=$(comm -12 <(below_main perf.stacks) <(below_main our.stacks) | wc -l)
	diag "$same of $(wc -l <perf.stacks) stacks are perf's"
	is "$(wc -l <our.stacks)" "$(wc -l <perf.stacks)" "$1: of as many samples"
	in_range "$(awk "BEGIN { print $same / $(wc -l <perf.stacks) }")" 0.9 1 "$1" ||
		diag "$(diff <(below_main perf.stacks) <(below_main our.stacks) | head -n 6)"
}

exits 0 "perf records" perf_record -q -F 999 -e cpu-clock --call-graph dwarf -o perf.data -- ./bare
exits 0 "which is read as it is" "$SPOOR" export -f folded --no-inline -o theirs.folded perf.data
perf_stacks perf.data >perf.stacks
our_stacks theirs.folded >our.stacks
same_stacks "perf says the same of its own"
whole=$(grep -c ';main;' perf.stacks)
all=$(wc -l <perf.stacks)

# perf finds call frame information through the map of a file's first bytes, which are no code where the linker
# keeps code apart: recorded as the process maps it, or as it had it when the recording began.
ok "a program with code apart" "$cc" -w -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,-z,separate-code -o bare work.c
exits 0 "recorded" "$SPOOR" record -F 999 -e cpu-clock --call-graph dwarf -o begun.spoor -- ./bare
background ./bare 4
sleep 0.5
exits 0 "and while it runs" "$SPOOR" record -F 999 -e cpu-clock --call-graph dwarf --duration 2s -p $! -o running.spoor
for r in begun running; do
	exits 0 "$r: folded" "$SPOOR" export -f folded --no-inline -o $r.folded $r.spoor
	exits 0 "$r: for perf" "$SPOOR" export -f perf-data-file -o $r.data $r.spoor
	perf_stacks $r.data >perf.stacks
	our_stacks $r.folded >our.stacks
	same_stacks "$r: perf says the same of ours"
	in_range "$(awk "BEGIN { print $(grep -c ';main;' perf.stacks) / $(wc -l <perf.stacks) / ($whole / $all) }")" 0.93 1.07 \
		"$r: as many whole stacks as in its own"
	is "$("$SPOOR" dump --json $r.spoor | jq -s '[.[] | select(.type == "MMAP2" and (.fields.filename | endswith("/bare")))] |
		any(.fields.pgoff == "0x0" and (.misc | test("mmap_data")))')" true "$r: the map of its first bytes is there"
done

# Maps of data are no code.
"$SPOOR" report --json --no-children --sort dso,sym begun.spoor | jq -r '.rows[] | .dso' | sort -u >dsos
is "$(grep -v '^bare$\|^libc\|^ld-linux\|^\[' dsos)" "" "maps of data give no other names"

done_testing
