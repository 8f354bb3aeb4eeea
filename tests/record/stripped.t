#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 30s
#
# Functions of a stripped program are told apart by its call frame information, called by where they begin in the
# file, and have their names where its debug file is.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_command jq strip objcopy nm readelf

# Of a program that is not moved addresses are not offsets.
cat >c.c <<'C'
static volatile unsigned sink;
__attribute__((noinline, noclone)) static void first(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 5 + i; }
__attribute__((noinline, noclone)) static void second(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 7 + i; }
void bare(unsigned n);
__asm__(".text\n.globl bare\n.type bare, @function\nbare: 1: sub $1, %edi\njne 1b\nret\n.size bare, . - bare\n");
int main(void) { for (int i = 0; i < 400; i++) { first(900000); second(400000); bare(1500000); } return 0; }
C
"${CC:-gcc}" -O1 -g -no-pie -fno-omit-frame-pointer -Wl,--build-id -o whole c.c || bail "no program"
objcopy --only-keep-debug whole prog.debug && mv prog.debug kept.debug
cp kept.debug prog.debug && strip -o prog whole && objcopy --add-gnu-debuglink=prog.debug prog && rm prog.debug
read -r text_at text_offset < <(readelf -SW whole | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print $3, $4 }')
offset() { printf '%#x' $((16#$(nm whole | awk -v n="$1" '$3 == n { print $1 }') - 16#$text_at + 16#$text_offset)); }
first="prog[$(offset first)]" second="prog[$(offset second)]"
"$SPOOR" record -F 997 -g -o x.spoor -- ./prog >out 2>&1 || bail "$(cat out)"

# Samples of each function in the rows of a report.
samples() { "$SPOOR" report --json --no-children --dso prog "$@" -i x.spoor 2>err | jq -r '.rows[] | "\(.symbol) \(.samples)"' | sort; }
samples >places
"$SPOOR" report --no-children -i x.spoor >text
"$SPOOR" report --json -i x.spoor >json
"$SPOOR" export -f perf-script -i x.spoor >script
"$SPOOR" export -f folded -i x.spoor >stacks
"$SPOOR" export -f json -i x.spoor >lines
for f in "$first" "$second"; do
	ok "a function is called by where it begins in the file: $f" grep -qF "$f " places
	ok "... in stacks" grep -qF "main;$f " <(sed "s/prog\[$(offset main)\]/main/" stacks)
	n=$(grep -F "$f " places | cut -d' ' -f2)
	is "$(samples -S "$f")" "$f $n" "... and can be asked for"
	like "$("$SPOOR" annotate "$f" x.spoor 2>&1)" "^# Samples: $n of event" "... and be looked at"
done
like "$(cat places)" '^\[unknown\] [0-9]+$' "code without call frame information has no place"
is "$(jq '.unresolved.no_name' json)" "$(awk '$1 ~ /^prog/ { n += $2 } END { print n }' places)" "samples of functions without a name are counted"
share=$(printf '%.2f' "$(jq '100 * .unresolved.no_name / .samples' json)")
like "$(cat text)" "No names: $(jq .unresolved.no_name json) of [0-9]+ samples \($share%\)" "... and told in a report, with their share"
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
like "$(cat text)" "prog: the file is stripped: .*find-dbgsym-packages FILE .*--debuginfod \(build-id $id\)" "... with who has the names"
unlike "$(cat script)" 'prog\[0x' "perf has no such names: nor has the export of its form"
like "$(cat script)" '\[unknown\] \(.*/prog\)' "... where they are [unknown]"
ok "an export as JSON has them" grep -qF "\"symbol\":\"$first\"" lines
"$SPOOR" export -f pprof -i x.spoor >p.pb.gz
like "$(gzip -dc p.pb.gz | strings)" 'prog\[0x' "and one for pprof"

"$SPOOR" pack -q --names x.spoor -o packed.spoor || bail "not packed"
mv prog away
is "$("$SPOOR" report --json --no-children --dso prog -i packed.spoor | jq -r '.rows[] | "\(.symbol) \(.samples)"' | sort)" \
	"$(cat places)" "a recording that is packed with names alone has them, without the file"
mv away prog

# --- the same function in every recording ----------------------------------------------------------

mkdir moved && cp prog moved/prog
exits 0 "a copy is recorded" "$SPOOR" record -F 997 -g -o moved.spoor -- moved/prog
"$SPOOR" report --json --no-children --dso prog -i moved.spoor | jq -r '.rows[].symbol' >there
for f in "$first" "$second"; do
	ok "another recording, of a copy, has $f" grep -qxF "$f" there
done

# --- with names ------------------------------------------------------------------------------------

cp kept.debug prog.debug
samples >names
is "$(awk '$1 == "first" || $1 == "second" { print $2 }' names | sort)" \
	"$(awk -v a="$first" -v b="$second" '$1 == a || $1 == b { print $2 }' places | sort)" \
	"with the debug file the same samples have the names"
unlike "$(cat names)" '\[0x' "... and no place is left"
"$SPOOR" report -i x.spoor >text
unlike "$(cat text)" 'No names:' "... nor told"
is "$(grep -c . <("$SPOOR" annotate "$first" x.spoor 2>/dev/null))" 0 "what has a name is not found by its place"
"$SPOOR" diff x.spoor x.spoor >same
unlike "$(cat same)" 'No names' "a comparison with names has none without"
rm prog.debug
"$SPOOR" diff x.spoor moved.spoor >d
like "$(cat d)" '^# No names: [0-9]+ of [0-9]+ samples' "a comparison tells that names are missing"
like "$(cat d)" "prog\[$(offset first)\]" "... and compares functions by their places"
done_testing
