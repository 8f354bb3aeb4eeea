#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# Inlined functions are frames of folded stacks and of --children: those of perf script, each address
# of which llvm-symbolizer has turned into its inlined frames (perf 6.1 does that for DWARF call graphs
# alone). srcline and srcfile are sort keys; what debug information says is kept.
# shellcheck disable=SC2015,SC2016
. "$(dirname "$0")/../lib.sh"
need_command perf gcc g++ python3 jq strip objcopy objdump llvm-symbolizer dwz

cat >c.c <<'C'
#include <stdio.h>
static inline unsigned turn(unsigned x) { for (int i = 0; i < 60; i++) x = x * 2654435761u ^ x >> 7; return x; }
static inline unsigned twice(unsigned x) { return turn(x) + turn(x ^ 5); }
__attribute__((noinline)) unsigned work(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += twice(i); return s; }
__attribute__((noinline)) unsigned run(unsigned n) { unsigned s = work(n); asm volatile("" : "+r"(s)); return s + 1; }
int main(void) { unsigned s = 0; for (int i = 0; i < 50; i++) s += run(40000); printf("%u\n", s); }
C
cat >cc.cc <<'CC'
#include <cstdio>
namespace shop {
template <class T> struct Till {
	T sum = 0;
	inline void add(T x) { for (int i = 0; i < 60; i++) x = x * 2654435761u ^ x >> 7; sum += x; }
};
}
__attribute__((noinline)) unsigned sell(unsigned n)
{
	shop::Till<unsigned> t;
	auto both = [&t](unsigned x) { t.add(x); t.add(x ^ 5); };
	for (unsigned i = 0; i < n; i++) both(i);
	return t.sum;
}
int main() { unsigned s = 0; for (int i = 0; i < 50; i++) s += sell(40000); printf("%u\n", s); }
CC
gcc -O2 -g -fno-omit-frame-pointer -o c c.c || bail "gcc failed"
g++ -O2 -g -fno-omit-frame-pointer -o cc cc.cc || bail "g++ failed"

perf_record -q -g -F 999 -e cpu-clock:u -o c.data ./c >/dev/null 2>perf.err || bail "perf: $(cat perf.err)"
perf script -i c.data -F comm,ip,sym,dso >c.script 2>/dev/null
python3 - c.script >wanted.folded <<'PY'
import collections, re, subprocess, sys
samples, command, frames = [], None, []
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if not line:
        if command:
            samples.append((command, frames))
        command, frames = None, []
    elif command is None:
        command = line.strip()
    else:
        ip, symbol, dso = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line).groups()
        # The offset in the file, which here is the address; of callers, where they return to.
        own = dso.endswith("/c")
        frames.append((symbol, int(ip, 16) - (1 if frames else 0) if own else None))
asked = sorted({at for _, f in samples for _, at in f if at is not None})
answer = subprocess.run(["llvm-symbolizer", "--obj=c"], text=True, stdout=subprocess.PIPE, check=True,
                        input="".join(f"{at:#x}\n" for at in asked)).stdout
inlined = {at: block.split("\n")[::2] for at, block in zip(asked, answer.split("\n\n"))}
stacks = collections.Counter()
for command, frames in samples:
    names = []
    for symbol, at in frames:
        names += inlined[at][:-1] + [symbol] if at is not None else [symbol]
    if "main" in names:
        stacks[";".join([command] + names[::-1])] += 1
print("\n".join(sorted(f"{s} {n}" for s, n in stacks.items())))
PY
"$SPOOR" export -f folded -i c.data -o all.folded 2>err
grep ';main' all.folded | sort >our.folded
ok "there are inlined frames to compare with" grep -q 'work;twice;turn ' wanted.folded
ok "folded stacks are perf script's and llvm-symbolizer's" diff wanted.folded our.folded
"$SPOOR" export -f folded --no-inline -i c.data -o - 2>err | grep ';main' >plain.folded
nok "--no-inline has none of them" grep -q 'turn\|twice' plain.folded
total() { awk '{ n += $NF } END { print n + 0 }' "$1"; }
is "$(total plain.folded)" "$(total our.folded)" "nor does a sample get lost"

# --- rows -----------------------------------------------------------------------------------

row() { jq -r --arg s "$1" '[.rows[] | select(.symbol == $s)][0] | "\(.samples) \(.children_samples)"' report.json; }
"$SPOOR" report --children --json -i c.data >report.json 2>err
read -r turn_self turn_all <<<"$(row turn)"
read -r work_self work_all <<<"$(row work)"
ok "what is inlined has rows of its own" [ "$turn_self" -gt $((work_all / 2)) ]
ok "and what it was inlined into has all of it" [ "$work_all" -ge "$turn_all" ]
diag "turn $turn_self of $turn_all, work $work_self of $work_all"
"$SPOOR" report --json -i c.data >flat.json 2>err
"$SPOOR" report --json --no-inline -i c.data >flat.plain.json 2>err
ok "a flat report is of what the linker knows" jq -e '[.rows[] | select(.symbol == "turn")] == []' flat.json
ok "with --no-inline or without" cmp flat.json flat.plain.json

"$SPOOR" report -s sym,srcline --json -i c.data >lines.json 2>err
ok "srcline: the line that burns" jq -e '
	[.rows[] | select(.symbol == "work")] | max_by(.samples) |
	.srcline == 2 and (.srcfile | endswith("/c.c"))' lines.json
like "$("$SPOOR" report -s srcline -i c.data 2>err)" 'c\.c:2' "and as text"
like "$("$SPOOR" report -s srcfile -i c.data 2>err)" '/c\.c' "srcfile: with its path"

# --- C++ --------------------------------------------------------------------------------------

perf_record -q -g -F 999 -e cpu-clock:u -o cc.data ./cc >/dev/null 2>perf.err || bail "perf: $(cat perf.err)"
"$SPOOR" export -f folded -i cc.data -o cc.folded 2>err
like "$(sort -t' ' -k2n cc.folded)" ';sell;[^;]*operator\(\);shop::Till<unsigned int>::add [0-9]' \
	"a method has its class and namespace, a lambda is a frame"

# --- a call whose name is in a file that is not here ---------------------------------------------

sed 's/\<turn\>/a_call_whose_name_dwz_moves_to_the_file_that_both_have/g' c.c >moved.c
gcc -O2 -g -o one moved.c && gcc -O2 -g -DTWO -o two moved.c || bail "gcc failed"
dwz -m common.debug one two || bail "dwz failed"
at=$(objdump -d one | awk '/^[0-9a-f]* <work>:/ { on = 1 } on && /imul/ { sub(":", "", $1); print $1; exit }')
like "$("$SPOOR" symbolize --no-cache --obj one "$at" | head -n 1)" '^a_call_whose_name.*c:2$' "dwz: by the file that both have"
rm common.debug
llvm-symbolizer --obj=one "0x$at" | awk 'NR % 2 && NF { print }' >wanted
"$SPOOR" symbolize --no-cache --obj one "$at" | cut -f 1 | sed '/^$/d' >got
like "$(head -n 1 wanted)" '^\?\?$' "without that file, the call has no name"
same "and is not the function that it is in: as llvm-symbolizer has it" wanted got
exits 0 "a recording of it" "$SPOOR" record -q -e cpu-clock:u -F 999 --call-graph dwarf -o moved.spoor -- ./one
"$SPOOR" export -f folded -i moved.spoor -o moved.folded 2>err
like "$(sort -t' ' -k2n moved.folded | tail -n 1)" ';main;run;work;\[one\];\[one\] [0-9]+$' "in folded stacks it is the object alone"

# --- where it is, and where it is kept --------------------------------------------------------

mkdir -p cache && export XDG_CACHE_HOME=$TMP/cache
"$SPOOR" export -f folded -i c.data -o first.folded 2>err
kept=$(ls cache/spoor)
like "$kept" '^[0-9a-f]{16,}\.sym' "answers are kept by build-id"
if [ "$(id -u)" = 0 ]; then
	mkdir theirs theirs/.cache home && chown -R 12345 theirs home
	env -u XDG_CACHE_HOME HOME="$TMP/home" "$SPOOR" export -f folded -i c.data -o his.folded 2>err
	XDG_CACHE_HOME=$TMP/theirs/.cache "$SPOOR" export -f folded -i c.data -o his.folded 2>err
	is "$(find home theirs -mindepth 1)" theirs/.cache "root makes nothing in another's home"
	ok "and has the same answers" cmp first.folded his.folded
fi
objcopy --only-keep-debug c c.debug
strip -o c.stripped c && objcopy --add-gnu-debuglink=c.debug c.stripped && cp c.stripped c
"$SPOOR" export -f folded --no-cache -i c.data -o link.folded 2>err
ok "by .gnu_debuglink as from the object itself" cmp all.folded link.folded
rm c.debug
"$SPOOR" export -f folded --no-cache -i c.data -o stripped.folded 2>err
nok "without debug information nothing is inlined" grep -q 'turn\|twice' stripped.folded

done_testing
