#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 90s
#
# --call-graph auto: stacks of programs without frame pointers are whole in the recording, and nothing of what their
# stacks and registers held is in it.
. "$(dirname "$0")/../lib.sh"
need_command perf jq
need_record_all
case $(uname -m) in x86_64) ;; *) skip_all "programs without frame pointers are for x86-64" ;; esac

cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
APART unsigned leaf(unsigned n) { while (n--) sink = sink * 69069 + 1; return sink; }
APART unsigned middle(unsigned n) { unsigned char room[n % 64 + 16]; memset(room, 1, sizeof room); return leaf(n) + room[3]; }
APART unsigned deep(unsigned n) { return n ? deep(n - 1) + 1 : middle(40000); }
int main(int argc, char **argv)
{
	char secret[64] = "";
	struct timespec t;
	FILE *f = fopen("secret", "r");

	if (!f || !fgets(secret, sizeof secret, f)) return 1;
	do {
		unsigned long word;
		memcpy(&word, secret, sizeof word);
		/* In a register, and on the stack. */
		__asm__ volatile("" : : "b"(word), "r"(secret) : "memory");
		deep(20);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec < atoi(argv[1]));
	return 0;
}
END
secret=Zx9QkT7w$(printf %08x%08x $RANDOM $RANDOM)
printf %s "$secret" >secret
ok "a program without frame pointers" "${CC:-gcc}" -w -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o bare work.c

whole() # FILE: of the stacks that were walked in time, those that are whole, in a thousand
{
	"$SPOOR" report --json --children -i "$1" | jq '.unwound | 1000 * .end / (.stacks - .busy) | floor'
}

exits 0 "a recording" "$SPOOR" record --call-graph auto -F 499 -o auto.spoor -- ./bare 2
in_range "$(whole auto.spoor)" 970 1000 "its stacks are whole"
is "$("$SPOOR" report --json --children -i auto.spoor | jq '.unwound | .end > 100 and
	.stacks == .end + .cut + .short + .no_map + .no_cfi + .bad_cfi + .limit + .busy + .refused')" true "and counted" ||
	diag "$("$SPOOR" report --json --children -i auto.spoor | jq -c .unwound)"
"$SPOOR" export -f folded -i auto.spoor >folded.txt 2>err
in_range "$(awk '{ n += $NF } /;main;deep;.*;deep;middle;leaf/ { m += $NF } END { print m / n }' folded.txt)" 0.9 1 "they lead from main to leaf"
is "$("$SPOOR" info --json -i auto.spoor | jq '.unwound.end > 100')" true "info has it"
like "$("$SPOOR" report --children -i auto.spoor)" '(9[0-9]\.[0-9]|100) % of [0-9]+ copied stacks are whole' "the report says so"

# What keeps a stack from being whole is told of the file: here pages inside of a frame that were never touched.
cat >hole.c <<'C'
static volatile unsigned long sink;
__attribute__((noinline)) static void spin(void) { volatile unsigned long i; for (i = 0; i < 1500000000; i++) sink = i; }
__attribute__((noinline)) static void hole(void) { volatile char big[200000]; big[199999] = 1; spin(); sink = big[199999]; }
int main(void) { hole(); return 0; }
C
ok "a program with a hole in its stack" "${CC:-gcc}" -w -O1 -fomit-frame-pointer -fno-stack-clash-protection -o hole hole.c
exits 0 "is recorded" "$SPOOR" record -F 499 -o hole.spoor -- ./hole
is "$("$SPOOR" info --json -i hole.spoor | jq '.unwound | .short > 0.8 * .stacks and .stacks > 100 and
	[.places[] | select(.end == "short" and .object == "hole") | .stacks] >= [0.9 * .short]')" true "its stacks end in it" ||
	diag "$("$SPOOR" info --json -i hole.spoor | jq -c .unwound)"
like "$("$SPOOR" info -i hole.spoor)" 'stacks .* end where the kernel.s copy ends early [^;]*\([0-9.]+ % in hole' "info says so"

# Frame pointers lead through what was not copied.
ok "the same with frame pointers" "${CC:-gcc}" -w -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-stack-clash-protection -o framed hole.c
exits 0 "is recorded, too" "$SPOOR" record -F 499 -o framed.spoor -- ./framed
"$SPOOR" export -f folded -i framed.spoor >folded.txt 2>err
in_range "$(awk '{ n += $NF } /;main;hole;spin / { m += $NF } END { print m / n }' folded.txt)" 0.8 1 "the kernel's callers are behind those of the copy"

# The default: of events with a frequency; and a limit of frames holds.
copied() # OPTION...: are stacks copied?
{
	"$SPOOR" record -o default.spoor "$@" -- ./bare 1 >/dev/null 2>&1
	"$SPOOR" info --json -i default.spoor | jq '(.unwound.stacks // 0) > 0'
}
is "$(copied -F 499)" true "a command's stacks are copied"
is "$(copied -F 499 -g)" true "with -g"
is "$(copied -F 499 -e cpu-clock/max-stack=5/)" true "with a limit of one event"
is "$(copied -F 499 -a)" true "those of all CPUs"
is "$(copied -F 499 --fp)" false "not with --fp"
is "$(copied -F 499 --call-graph fp -e cpu-clock/max-stack=5/)" false "nor with fp and a limit"
is "$(copied -c 1 -e page-faults)" false "nor of events with a period"
is "$(copied -F 499 --user-regs=ip)" false "nor with registers"
exits 0 "rings of a page" "$SPOOR" record -m 1 -F 199 -o default.spoor -- "$FIXTURES/burn" 500
like "$(cat err)" 'rings of 1 pages have no room for copies of stacks: call graphs follow frame pointers' "have no room for stacks, which is told"
in_range "$("$SPOOR" info --json -i default.spoor | jq .samples)" 20 1000 "and lose no samples for them"
longest() # FILE: addresses of its longest call chain
{
	"$SPOOR" dump --json "$1" | jq -s '[.[] | select(.type == "SAMPLE") | [.fields.callchain[] | select(startswith("0x"))] | length] | max'
}
exits 0 "a limit of frames" "$SPOOR" record -F 499 --max-stack 5 -o limit.spoor -- ./bare 1
is "$(longest limit.spoor)" 5 "holds for what was unwound"

# perf has them of our export.
ok "an export" "$SPOOR" export -f perf-data -i auto.spoor -o auto.data
in_range "$(perf script -i auto.data -F ip,sym 2>/dev/null | awk -v RS= '/leaf/ { n++ } /leaf/ && /middle/ && /deep/ && /main/ { m++ } END { print m / n }')" \
	0.9 1 "perf finds main above leaf"

# What a program holds stays its own. The control: a recording of copies has it.
exits 0 "copies" "$SPOOR" record --call-graph dwarf -F 499 -o dwarf.spoor -- ./bare 1
ok "their export" "$SPOOR" export -f perf-data -i dwarf.spoor -o dwarf.data
ok "has the secret" grep -q "${secret:0:12}" dwarf.data
nok "that of auto has not" grep -q "${secret:0:12}" auto.data
nok "nor its first word" grep -q "${secret:0:8}" auto.data
unlike "$("$SPOOR" info -v -i auto.spoor)" 'REGS_USER|STACK_USER' "neither registers nor stacks are in it"

# Beside an event whose stacks are recorded: each has what it asked for.
exits 0 "both in one recording" "$SPOOR" record -e cpu-clock/call-graph=dwarf,freq=499/u -e task-clock/call-graph=auto,freq=499/u -o both.spoor -- ./bare 1
is "$("$SPOOR" info --json -i both.spoor | jq -c '[.bad_records, (.events[:2] | map(.samples > 50))]')" '[0,[true,true]]' "all samples parse"
is "$("$SPOOR" report --json --children -i both.spoor 2>/dev/null | jq '.unwound | .end >= 0.97 * (.stacks - .busy) and .stacks > 200')" true "those of both are unwound" ||
	diag "$("$SPOOR" report --json --children -i both.spoor | jq -c .unwound)"

# The unwinder is killed as soon as it is there, again and again: no sample is lost.
"$SPOOR" record --call-graph auto -F 499 -o killed.spoor -- ./bare 100 2>killed.err &
pid=$!
killed=0
parent_of() # PID
{
	sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null
}
kill_unwinder()
{
	# Its own, which the keeper of its helpers started, and no other test's.
	for p in $(pgrep -x spoor-unwind); do
		[ "$(parent_of "$(parent_of "$p")")" != "$pid" ] || ! kill -9 "$p" || killed=$((killed + 1))
	done
	# It stays away longer after each time, in the end for more than samples wait.
	[ $killed -ge 4 ]
}
ok "an unwinder is killed four times" wait_for 60 kill_unwinder
pkill -P $pid -x bare
wait $pid
is "$?" 143 "the recording ends in order, as its command does"
like "$(cat killed.err)" ' [0-9]+ samples, 0 lost' "no sample is lost" || diag_file killed.err
is "$("$SPOOR" report --json --children -i killed.spoor | jq '.unwound.busy > 0')" true "those that were not walked are counted"

# It is stopped: it is ended after a while, another one begins, and no sample is lost.
unwinder_of() # PID: its unwinder
{
	local p
	for p in $(pgrep -x spoor-unwind); do
		[ "$(parent_of "$(parent_of "$p")")" != "$1" ] || echo "$p"
	done
}
"$SPOOR" record --call-graph auto -F 199 -o stopped.spoor -- ./bare 100 2>stopped.err &
pid=$!
works() { [ -n "$(unwinder_of $pid)" ]; }
another() { works && [ "$(unwinder_of $pid)" != "$first" ]; }
wait_for 20 works
first=$(unwinder_of $pid)
kill -STOP "$first"
ok "an unwinder that stands still is ended, and another one begins" wait_for 40 another
sleep 5
pkill -P $pid -x bare
wait $pid
like "$(cat stopped.err)" ' [0-9]+ samples, 0 lost' "no sample is lost meanwhile" || diag_file stopped.err
is "$("$SPOOR" report --json --children -i stopped.spoor | jq '.unwound.busy > 0')" true "those that were not walked are counted"
in_range "$("$SPOOR" export -f folded -i stopped.spoor --since 2s | awk '/^bare;.*leaf / { n += $NF } /;main;deep;.*;leaf / { m += $NF } END { print int(1000 * m / n) }')" \
	950 1000 "stacks are whole again after that"

# Without the program.
if [ ! -e /usr/local/libexec/spoor-unwind ]; then
	mkdir alone && cp "$SPOOR" alone/
	exits 0 "without the unwinder" alone/spoor record --call-graph auto -F 499 -o alone.spoor -- ./bare 1
	like "$(cat err)" 'spoor-unwind does not work, or is not there .*: call graphs follow frame pointers' "is said"
	is "$("$SPOOR" report --json --children -i alone.spoor | jq '.unwound | .busy == .stacks and .stacks > 50')" true "all have the kernel's call chain"
else
	skip "spoor-unwind is installed" 3
fi
# execve(2) frees the old stack, which takes its time, before the new program begins.
cat >again.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int left = atoi(argv[1]);
	char *room = mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), next[16];

	madvise(room, 16 << 20, MADV_NOHUGEPAGE);
	memset(room, 1, 16 << 20);
	snprintf(next, sizeof(next), "%d", left - 1);
	return left ? execl(argv[0], argv[0], next, (char *)0) : 0;
}
END
ok "a program that executes itself" "${CC:-gcc}" -w -O1 -g -fomit-frame-pointer -o again again.c
exits 0 "is recorded" "$SPOOR" record --call-graph auto -F 1999 -o again.spoor -- ./again 200
is "$("$SPOOR" report --json --children -i again.spoor | jq '.unwound | .freed > 20 and .end >= 0.95 * (.stacks - .busy)')" true \
	"samples in execve(2) and exit(2) are told apart from stacks that are not whole" || diag "$("$SPOOR" report --json --children -i again.spoor | jq -c .unwound)"
# Stacks of 30 KiB need a larger copy than that of dwarf.
cat >wide.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
APART unsigned leaf(unsigned n) { while (n--) sink = sink * 69069 + 1; return sink; }
APART unsigned wide(unsigned n) { volatile char room[3000]; room[n] = 1; return n ? wide(n - 1) + room[n] : leaf(100000) + room[0]; }
int main(int argc, char **argv)
{
	struct timespec t;

	do {
		wide(9);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec < atoi(argv[1]));
	return 0;
}
END
ok "a program with large frames" "${CC:-gcc}" -w -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o wide wide.c
reaching() # FILE [OPTION...]: of the samples in leaf, those under main, in a thousand
{
	local file=$1
	shift
	"$SPOOR" export -f folded -i "$file" "$@" 2>/dev/null | awk '/^wide;.*;leaf / { n += $NF } /;main;wide;.*;leaf / { m += $NF } END { print int(1000 * m / n) }'
}
exits 0 "a size that was asked for" "$SPOOR" record --call-graph auto,8192 -F 99 -o asked.spoor -- ./wide 1
is "$(reaching asked.spoor)" 0 "is kept"
like "$("$SPOOR" report --children -i asked.spoor)" ' % end at the copied 8 KiB \(' "and told"
for hz in 99 999; do
	exits 0 "a command, $hz Hz" "$SPOOR" record --call-graph auto -F $hz -o command.spoor -- ./wide 1
	in_range "$(reaching command.spoor)" 950 1000 "has copies that are large enough"
done
# Where others take the CPUs, samples are lost, and copies are smaller for that, which is told: then once more.
lossless()
{
	"$SPOOR" record --call-graph auto -F 999 -a -o all.spoor -- ./wide 3 2>err && ! grep -q 'samples were lost, as rings were full' err
}
ok "all CPUs" wait_for 120 lossless
in_range "$(reaching all.spoor)" 950 1000 "have them, too" || diag "$("$SPOOR" info -i all.spoor)"
# Samples are lost while the recorder stands still: copies become smaller.
busy=()
for ((i = 0; i < $(nproc); i++)); do
	./wide 100 &
	busy+=($!)
done
"$SPOOR" record --call-graph auto -F 999 -a -o lost.spoor -- sleep 100 2>lost.err &
pid=$!
has_begun() { [ "$(stat -c %s lost.spoor 2>/dev/null || echo 0)" -gt 0 ] && [ -n "$(unwinder_of $pid)" ]; }
wait_for 20 has_begun
for _ in 1 2 3; do
	kill -STOP $pid
	sleep 1
	kill -CONT $pid
	sleep 2
done
kill -INT $pid
wait $pid
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
like "$(cat lost.err)" 'samples were lost, as rings were full: (32|16|8) KiB of each stack are copied now, instead of (63|32|16)' "what is lost makes copies smaller" || diag_file lost.err
# Rings have room for 4 KiB, and that is told.
exits 0 "small rings" "$SPOOR" record --call-graph auto -F 999 -m 64K -a -o small.spoor -- ./wide 4
like "$("$SPOOR" info -i small.spoor)" ' % end at the copied 4 KiB \(' "have smaller copies"
like "$(cat err)" 'more than 0.5 % of stacks end at the copied 4 KiB: .* rings have no room for larger copies' "which is told" || diag_file err
is "$("$SPOOR" info --json -i small.spoor | jq -c '[.bad_records, .loss.corrupt]')" '[0,0]' "all samples parse" || diag "$("$SPOOR" info -i small.spoor)"
done_testing
