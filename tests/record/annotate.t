#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# spoor annotate against objdump (the same instructions), llvm-symbolizer (the same lines and inlined calls) and
# perf annotate of our perf.data (the same percentages), for C, C++, Go and Rust; where there is no code, no lines
# or no source, and why; sources that a program must not have shown.
# shellcheck disable=SC2015,SC2016
. "$(dirname "$0")/../lib.sh"
need_command perf gcc g++ python3 jq objdump strip objcopy llvm-symbolizer

mkdir src && cat >src/c.c <<'C'
#include <stdio.h>
static inline unsigned turn(unsigned x)
{
	for (int i = 0; i < 60; i++)
		x = x * 2654435761u ^ x >> 7; /* hot */
	return x;
}
static inline unsigned twice(unsigned x)
{
	return turn(x) + turn(x ^ 5);
}
__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += twice(i); /* called */
	return s;
}
int main(void) { unsigned s = 0; for (int i = 0; i < 20; i++) s += work(40000 + i); printf("%u\n", s); }
C
cat >src/cc.cc <<'CC'
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
namespace shop {
template <class T> struct Till {
	std::vector<T> v;
	__attribute__((noinline)) void sell(unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			v.push_back(T(i * 2654435761u >> 3));
		std::sort(v.begin(), v.end());
	}
};
}
int main()
{
	unsigned s = 0;
	for (int i = 0; i < 40; i++) {
		shop::Till<unsigned long> t;
		t.sell(20000); /* a call of a mangled name, in a function that is sampled */
		for (unsigned k = 0; k < 2000000; k++)
			s = s * 2654435761u ^ s >> 7 ^ k;
	}
	printf("%u\n", s);
}
CC
gcc -O2 -g -o c src/c.c && g++ -O2 -g -o cc src/cc.cc || bail "the compilers failed"

agrees() # ORACLE RECORDING OBJECT [SYMBOL...]
{
	if python3 "$TOP/tests/oracles/annotate_oracle.py" "$SPOOR" "$@" >log 2>&1; then
		pass "$1, $3: $(tail -n 1 log)"
	else
		fail "$1, $3"
		diag_file log
	fi
}
record() # NAME COMMAND...
{
	"$SPOOR" record -F 4999 -e cpu-clock:u -o "$1.spoor" -- "${@:2}" >/dev/null 2>err ||
		bail "record: $(cat err)"
	"$SPOOR" export -f perf-data-file -i "$1.spoor" -o "$1.data" 2>err || bail "export: $(cat err)"
}
annotate() { "$SPOOR" annotate "$@" 2>err; }

record c ./c
record cc ./cc
agrees objdump c.spoor "$TMP/c"
agrees llvm c.spoor "$TMP/c" work
PERF_DATA=c.data agrees perf c.spoor "$TMP/c" work
agrees objdump cc.spoor "$TMP/cc"
agrees llvm cc.spoor "$TMP/cc"
PERF_DATA=cc.data agrees perf cc.spoor "$TMP/cc"

# --- the hot line ---------------------------------------------------------------------------

hot=$(grep -n hot src/c.c | cut -d: -f1)
called=$(grep -n called src/c.c | cut -d: -f1)
annotate -i c.spoor --json >c.json
is "$(json c.json '.functions | length')" 1 "without a name: the hottest function"
is "$(json c.json '.functions[0].symbol')" work "which is"
is "$(json c.json '.functions[0].lines | map(select(.source == "\t\tx = x * 2654435761u ^ x >> 7; /* hot */"))[0] |
	"\(.srcline) \(.frames | map(.function) | join(" "))"')" \
	"$hot turn twice work" "the line that burns, its text, and the calls that were inlined"
# Which instruction of the loop has most samples is up to the CPU: perf says which were sampled, addr2line of which lines.
start=$(nm c | awk '$3 == "work" { print $1 }')
perf script --no-inline -i c.data -F ip,sym,symoff 2>/dev/null | sed -n 's/.* work+0x\([0-9a-f]*\).*/\1/p' |
	while read -r offset; do printf '%x\n' $((16#$start + 16#$offset)); done | addr2line -e c | sed 's/ (disc.*//; s/.*://' |
	awk '{ n[$1]++ } END { for (l in n) print l, n[l] }' | sort -n >want
ok "perf and addr2line tell of lines" test -s want
is "$(json c.json '.functions[0].lines[] | "\(.srcline) \(.samples)"' | sort -n)" "$(cat want)" "each line has the samples of its instructions"
ok "and their share of the function's events" jq -e '.functions[0] as $f | all($f.lines[]; (.overhead - 100 * .period / $f.period) | fabs < 1e-6)' c.json
annotate -i c.spoor work >text
like "$(cat text)" "c\.c:$hot +turn \(inlined\) +x = x" "and as text"
like "$(cat text)" "^# 'cpu-clock:u' is a timer, whose samples are of the instruction that was next" "what its addresses mean"
like "$(cat text)" "^ +[0-9.]+% +[0-9a-f]+  imull|^ +[0-9a-f]+  imull" "instructions"
# On a terminal: rows of the first table are not in the source's order, and have no indentation; a line behind
# which there is no room has less.
for width in 80 70; do
	script -qec "stty cols $width; NO_COLOR=1 \"\$SPOOR\" --no-pager annotate -i c.spoor work 2>/dev/null" /dev/null </dev/null 2>&1 | tr -d '\r' >screen
	is "$(awk -v width=$width 'length($0) > width' screen)" "" "$width columns: no row is longer"
	is "$(awk -v line="c.c:$hot " '/^# Percent +Samples .* Source$/ { at = match($0, /Source$/) }
		index($0, line) && / turn/ { print index($0, "x = x * 2654435761") - at; exit }' screen)" 0 "... the source begins in its column"
	like "$(grep "^ *:$hot " screen | head -n 1)" 'x = x \* 2654435761u \^ x >> 7; /\* hot \*/$' "... and is whole at the instructions"
done
unlike "$(annotate -i c.spoor -l)" 'imul' "--lines has none"
unlike "$(annotate -i c.spoor --asm)" 'c\.c|inlined' "--asm has no lines"
like "$(annotate -i c.spoor -M intel)" 'imul +e[a-d]x, ' "-M intel"
like "$(annotate -i c.spoor --chain -l)" "turn < twice c\.c:[0-9]+ < work c\.c:$called" "--chain"
is "$(annotate -i c.spoor --no-inline -l --json | jq -r '[.functions[0].lines[] | .srcline] | contains(['"$called"'])')" true \
	"--no-inline: the line of the call"
nok "which has none of what was called" sh -c \
	"'$SPOOR' annotate -i c.spoor --no-inline -l | grep -q 'c\\.c:$hot '"
is "$(annotate -i c.spoor --min-percent 10 --json | jq '[.functions[0] | .lines[], .instructions[] | select(.overhead < 10)] | length')" \
	0 "--min-percent"
all=$(json c.json '.functions[0].samples')
# From the middle one of its samples on: a program that is made to wait has none in half of the time.
middle=$("$SPOOR" export -f csv -i c.spoor | awk -F, '/work/ { t[n++] = $2 }
	END { at = t[int(n / 2)]; printf "%d.%09d", at / 1e9, at % 1e9 }')
is "$(annotate -i c.spoor --time "$middle," --json work | jq '.functions[0].samples')" $((all - all / 2)) \
	"filters choose samples"
exits 1 "a function that has no sample" "$SPOOR" annotate -i c.spoor wor
like "$(cat err)" "there is 'work'" "and which there is"
exits 2 "--asm and --lines" "$SPOOR" annotate -i c.spoor --asm --lines

# --- sources ----------------------------------------------------------------------------------

line() { jq -r '.functions[0].lines[] | select(.srcline == '"$hot"') | .source'; }
why() { jq -r '.sources[] | select(.srcfile | endswith("/c.c")) | .why'; }
mkdir moved && mv src/c.c moved/
annotate -i c.spoor --json >gone.json
is "$(line <gone.json)" null "a source that is gone"
like "$(why <gone.json)" '^is not here' "and that is said"
like "$(annotate -i c.spoor)" '^# Source: .*/c\.c is not here: give --source-path' "in text as well"
like "$(annotate -i c.spoor --source-path "$TMP/src=$TMP/moved" --json | line)" 'hot' "--source-path FROM=TO"
like "$(annotate -i c.spoor --source-path moved --json | line)" 'hot' "--source-path DIR"
is "$(annotate -i c.spoor --source-path "$TMP/sr=$TMP/moved" --json | line)" null "whole directories, not parts of their names"
mkdir -p root"$TMP"/src && cp moved/c.c root"$TMP"/src/ && cp --parents -p "$TMP/c" root/
like "$(annotate -i c.spoor --symfs root --json | line)" 'hot' "--symfs"
is "$(annotate -i c.spoor --no-source --source-path moved --json | line)" null "--no-source"

# What a program calls its source is somebody's secret, or no file to be opened.
secret() # NAME: what is shown of it
{
	annotate -i c.spoor --json >secret.json
	is "$(line <secret.json)" null "$1"
	diag "$(why <secret.json)"
}
mkfifo src/c.c && secret "a FIFO is not opened" && rm src/c.c
ln -s /dev/zero src/c.c && secret "nor a device" && rm src/c.c
{ printf 'a\0b\n'; cat moved/c.c; } >src/c.c && secret "no binary file is shown" && rm src/c.c
truncate -s 40M src/c.c && secret "nor one that is too long" && rm src/c.c
if [ "$(id -u)" -eq 0 ]; then
	chmod 711 "$TMP"
	install -m 600 moved/c.c src/c.c
	like "$(annotate -i c.spoor --json | line)" 'hot' "a private one of the program's owner is"
	chown nobody c
	secret "but not one that the program's owner may not read"
	like "$(annotate -i c.spoor --source-path src --json | line)" 'hot' "unless the reader names its directory"
	chown root c && rm src/c.c && install -m 600 moved/c.c src/secret && ln -s secret src/c.c
	secret "nor one that only a link calls source"
	rm src/c.c src/secret
else
	skip "only root reads what others may not" 4
fi
{ head -n $((hot - 1)) moved/c.c; printf 'x = \033[31m\tred\233\n'; } >src/c.c
touch -d '1 hour' src/c.c
annotate -i c.spoor >text
nok "no escape sequence reaches the terminal" grep -q $'\033' text
like "$(cat text)" '\\033\[31m' "it is shown"
like "$(cat text)" '^# Source: .*/c\.c was changed after the recording began' "and that the source is newer"
rm src/c.c

# --- where something is missing ----------------------------------------------------------------

cp c c.kept && strip -g c
annotate -i c.spoor >text
like "$(cat text)" 'No source lines: there is no debug information' "no debug information"
like "$(cat text)" 'imull.*(0x9e3779b1|-0x61c8864f|2654435761|-1640531535)' "but instructions"

# --- without symbols ------------------------------------------------------------------------------

at=$((16#$(nm c.kept | awk '$3 == "work" { print $1 }')))
instructions() { jq -c '.functions[0] | [.start, .end, .samples], (.instructions[] | [.address, .text, .samples])'; }
cp c.kept c && annotate -i c.spoor --asm --json work | instructions >named
ok "work() has instructions" [ "$(wc -l <named)" -gt 10 ]
like "$(annotate -i c.spoor "$(printf %#x $((at + 1)))")" '^# Function: work in ' "an address in a function finds it"
strip -o c c.kept
annotate -i c.spoor --asm --json >stripped.json
is "$(jq -r '.functions[0].symbol' stripped.json)" "c[$(printf %#x $at)]" "a stripped program: the hottest function is its place in the file"
instructions <stripped.json >unnamed
same "... with the range, instructions and samples of the one that has a name" unnamed named
annotate -i c.spoor --asm --json "$(printf %#x $((at + 1)))" | instructions >unnamed
same "... which any address in it finds" unnamed named
annotate -i c.spoor --asm --json "c[$(printf %#x $at)]" | instructions >unnamed
same "... and so does what reports call it" unnamed named
like "$(annotate -i c.spoor)" "^# Function: c\[$(printf %#x $at)\] \(no symbol\) in .*/c, from " "... in words"
unlike "$(annotate -i c.spoor)" 'Without a symbol: .*/c:' "... and is not missing"
objcopy --strip-all -R .eh_frame -R .eh_frame_hdr c.kept c
annotate -i c.spoor --asm --json >stripped.json
jq -c '.functions[0].instructions[] | select(.samples > 0) | [.address, .samples]' stripped.json >unnamed
sed 1d named | jq -c 'select(.[2] > 0) | [.[0], .[2]]' >sampled
ok "without call frame information: what was sampled together" [ -s unnamed ]
is "$(grep -vxFf unnamed sampled)" "" "... with the samples of each instruction"
exits 1 "an address that was not sampled" "$SPOOR" annotate -i c.spoor 0x1

gcc -O1 -g -o c moved/c.c
annotate -i c.spoor >text
like "$(cat text)" 'Without a symbol: .*/c: \[build-id mismatch\]: the file here is another build' "another build is never disassembled"
unlike "$(cat text)" 'imull.*(0x9e3779b1|-0x61c8864f|2654435761|-1640531535)' "at all"
mkdir -p debug/.build-id
id=$(readelf -n c.kept | sed -n 's/.*Build ID: //p')
rm c && mkdir -p "$HOME/.cache" "$HOME/.debug/.build-id/${id:0:2}"
mkdir -p "$HOME/.debug/.build-id/${id:0:2}/${id:2}"
objcopy --only-keep-debug c.kept "$HOME/.debug/.build-id/${id:0:2}/${id:2}/debug"
annotate -i c.spoor --source-path moved >text
like "$(cat text)" "c\.c:$hot " "only its symbols are here: lines"
like "$(cat text)" 'No instructions: the file that is here has symbols and no code' "and no instructions"
rm -r "$HOME/.debug" && cp c.kept c

if command -v go >/dev/null; then
	mkdir go && cat >go/main.go <<'GO'
package main

import "fmt"

//go:noinline
func spin(n uint32) uint32 {
	s := uint32(0)
	for i := uint32(0); i < n; i++ {
		s = s*2654435761 ^ s>>7 + i
	}
	return s
}

func main() {
	s := uint32(0)
	for i := 0; i < 40; i++ {
		s += spin(4000000)
	}
	fmt.Println(s)
}
GO
	(cd go && HOME=$TMP GO111MODULE=off GOFLAGS='' GOCACHE=$TMP/cache go build -o ../gone main.go) || bail "no Go program"
	record gone ./gone
	agrees objdump gone.spoor "$TMP/gone" main.spin
	agrees llvm gone.spoor "$TMP/gone" main.spin
	PERF_DATA=gone.data agrees perf gone.spoor "$TMP/gone" main.spin
	like "$(annotate -i gone.spoor main.spin -l)" 'main\.go:9 .*s\*2654435761' "Go: the line"
else
	skip "no go" 4
fi
cat >main.rs <<'RS'
#[inline(never)]
fn spin(n: u32) -> u32 {
    (0..n).fold(0u32, |s, i| s.wrapping_mul(2654435761) ^ (s >> 7).wrapping_add(i))
}
fn main() {
    println!("{}", (0..40).map(|_| spin(3000000)).fold(0u32, u32::wrapping_add));
}
RS
if HOME=$CALLER_HOME rustc -O -g -o rust main.rs 2>log; then
	record rust ./rust
	agrees objdump rust.spoor "$TMP/rust" main::spin
	agrees llvm rust.spoor "$TMP/rust" main::spin
else
	skip "no rustc"
fi

# --- the kernel, and code that was made at run time -----------------------------------------------

# A vmlinux of the running build, with one function: that which was sampled most.
id=$(python3 - 2>/dev/null <<'PY'
data = open("/sys/kernel/notes", "rb").read()
at = data.find(b"\3\0\0\0GNU\0")
print(data[at + 8:at + 8 + data[at - 4]].hex() if at > 0 else "")
PY
)
"$SPOOR" record -F 4999 -e cpu-clock -o kernel.spoor -- dd if=/dev/zero of=/dev/null bs=1M count=20000 >/dev/null 2>&1
annotate -i kernel.spoor -d '[kernel.kallsyms]' --json >kernel.json
start=$(json kernel.json '.functions[0].start // ""')
function=$(json kernel.json '.functions[0].symbol // ""')
text=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms 2>/dev/null)
if [ -n "$id" ] && [ -n "$start" ] && [ -n "$text" ] && [ $((0x$text)) -ne 0 ]; then
	like "$(json kernel.json '.functions[0].no_instructions // "they are here"')" 'vmlinux|they are here' \
		"the kernel: instructions, or what would help"
	{
		printf '.globl _text\n_text: nop\n.section .busy,"ax"\n'
		printf '.globl NAME\n.type NAME,@function\nNAME:\n.rept 300\nnop\n.endr\nret\n.size NAME,.-NAME\n' |
			sed "s/NAME/$function/g"
	} >kernel.s
	# Where it is linked to be; KASLR has moved it.
	base=0xffffffff81000000
	link() # OUT BUILD-ID
	{
		ld -e 0 --build-id="0x$2" -Ttext=$base --section-start=.busy="$(printf '%#x' $((base + start - 0x$text)))" \
			-o "$1" kernel.o 2>log || bail "$(cat log)"
	}
	gcc -g -c -o kernel.o kernel.s && link vmlinux "$id" && link other "00${id:2}"
	annotate -i kernel.spoor --vmlinux vmlinux -d '[kernel.kallsyms]' --json "$function" >kernel.json
	is "$(json kernel.json '.functions[0] | "\(.start) \(.instructions[0].address) \(.instructions | length)"')" \
		"$start $start 301" "instructions from a vmlinux that lies elsewhere"
	is "$(json kernel.json '.functions[0] | ([.instructions[].samples] | add) + .outside_samples == .samples')" true \
		"with all samples"
	is "$(json kernel.json '[.functions[0].instructions[] | .frames[0].srcline] | unique | length >= 2')" true "and its lines"
	annotate -i kernel.spoor --vmlinux other -d '[kernel.kallsyms]' "$function" >text
	unlike "$(cat text)" '  nop$' "not from one of another build"
else
	skip "this user may not see where the kernel is, or it has no build-id" 5
fi

if [ "$(uname -m)" = x86_64 ]; then
# What the kernel wrote over its code: what stood there at the last sample that is asked for, by objdump of the same.
cat >poked.s <<'S'
.globl _text, busy
_text: nop
.skip 0xfff
.type busy,@function
busy: .byte 0x0f,0x1f,0x44,0,0
.byte 0x66,0x90
nop; nop; nop
cmp $7,%eax
je busy
ret
.size busy,.-busy
S
gcc -c -o poked.o poked.s && ld -Ttext=0xffffffff81000000 --build-id=0xabcdef0123 -e 0 -o poked poked.o || bail "no vmlinux"
# Seconds, offset, bytes before, bytes after: samples are at 1, 3 and 5 s.
pokes='2 0 0f1f440000 e8fbefffff
4 5 eb00 eb01
4 0 e8fbefffff 0f1f440000
4 0 0f1f440000 e8fbefffff
6 7 0f1f00 cccccc'
python3 "$TOP/tests/oracles/forge.py" pokes poked.spoor abcdef0123 2a000000 ffffffff81000000 ffffffff81001000 \
	ffffffff81001010 <<<"$pokes" || bail "no recording"
poked() { annotate --vmlinux poked --json "$@"; }
patched() # [OFFSET HEX]...: what objdump says of the file with these bytes of busy()
{
	cp poked poked.now
	python3 -c 'import sys
with open("poked.now", "r+b") as f:
    for offset, code in zip(sys.argv[2::2], sys.argv[3::2]):
        f.seek(int(sys.argv[1], 16) + 0x1000 + int(offset))
        f.write(bytes.fromhex(code))' "$(objdump -h poked | awk '$2 == ".text" { print $6 }')" "$@"
	objdump -d --no-show-raw-insn --start-address=0xffffffff81001000 poked.now | sed -n 's/ *#.*//; s/^ *\(ffff[0-9a-f]*\):.*/\1/p' >wanted
	objdump -s --start-address=0xffffffff81001000 -j .text poked.now | sed -n 's/^ *ffff[0-9a-f]* \(.\{35\}\).*/\1/p' |
		tr -d ' \n' >wanted.bytes
}
agrees_with_patched() # WHAT RECORDING [OPTION...]
{
	poked -i "${@:2}" >poked.json
	json poked.json '.functions[0].instructions[].address' | sed 's/0xffffffffab/ffffffff81/' >got
	same "$1: instructions" wanted got
	is "$(json poked.json '.functions[0].instructions | map(.bytes) | add')" "$(cat wanted.bytes)" "$1: their bytes"
}
told() { json poked.json '.functions[0] | [.patches, (.instructions[] | select(.patches) | [.address[-1:], .patches, .text_before])] | tostring | gsub(" +"; " ")'; }
patched 0 e8fbefffff 5 eb01 7 0f1f00
agrees_with_patched "at the last sample" poked.spoor
is "$(told)" '[4,["0",3,"nopl (%rax, %rax)"],["5",1,"jmp 0xffffffffab001007"]]' "what was patched meanwhile, and what was there before"
like "$(annotate --vmlinux poked -i poked.spoor)" 'callq? .*<_text> *# patched 3 times, before: nopl' "as text"
like "$(annotate --vmlinux poked -i poked.spoor)" '^# The kernel patched this code 4 times between' "and in a sentence"
patched 0 e8fbefffff 5 eb00 7 0f1f00
agrees_with_patched "until 3 s" poked.spoor --time 0,3.5
is "$(told)" '[1,["0",1,"nopl (%rax, %rax)"]]' "nothing of what comes later is counted"
patched 5 eb00 7 0f1f00
agrees_with_patched "one sample" poked.spoor --time 0,1.5
is "$(told)" '[0]' "to which nothing changes"
poked -i - <poked.spoor >piped.json
poked -i poked.spoor >poked.json
is "$(json piped.json .functions)" "$(json poked.json .functions)" "from a pipe"
mkdir archive && cp poked.spoor archive/20260101T000000.000000Z-boot-000001.spoor
poked -i archive >archived.json
is "$(json archived.json .functions)" "$(json poked.json .functions)" "of an archive"
poked -l -i poked.spoor >lines.json
is "$(json lines.json '.functions[0] | has("patches") and .patches == null')" true "with lines alone it is not known"
else
	skip "the code that is written over is of x86-64" 14
fi

"$SPOOR" record -F 997 -e cpu-clock:u -o jit.spoor -- "$FIXTURES/jit" map >/dev/null 2>&1
annotate -i jit.spoor 'alpha()' >text
like "$(cat text)" 'Function: alpha\(\) in ' "code that was made at run time: a name"
like "$(cat text)" 'No instructions: it was made at run time, and its bytes were not recorded' "and why there is no more"

# --- a terminal, a pipe ----------------------------------------------------------------

cp moved/c.c src/c.c
like "$(annotate -i - <c.spoor)" 'imull' "from a pipe"
script -qec "stty cols 80; '$SPOOR' --no-pager --color never annotate -i c.spoor 2>words" /dev/null >terminal 2>&1 </dev/null
is "$(tr -d '\r' <terminal | awk 'length > 80' | head -n 3)" "" "80 columns of a terminal are enough"
like "$(tr -d '\r' <terminal)" 'inlined' "for all of it"

done_testing
