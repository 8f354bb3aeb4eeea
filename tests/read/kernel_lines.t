#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lines and inlined functions of the kernel, from a vmlinux of the recorded build wherever distributions
# put it, moved by KASLR; names stay the recording's. A small vmlinux stands for the real one (VMLINUX=FILE
# takes another); llvm-symbolizer is the oracle.
. "$(dirname "$0")/../lib.sh"
need_command jq python3 nm readelf llvm-symbolizer
unset DEBUGINFOD_URLS

cat >kernel.c <<'C'
static inline unsigned turn(unsigned x) { for (int i = 0; i < 9; i++) x = x * 2654435761u ^ x >> 7; return x; }
static inline unsigned twice(unsigned x) { return turn(x) + turn(x ^ 5); }
__attribute__((noinline, noclone)) unsigned do_work(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += twice(i);
	return s;
}
__attribute__((noinline, noclone)) unsigned mod_work(unsigned n) { return turn(n) + 1; }
unsigned start_kernel(unsigned n) { return do_work(n) + mod_work(n) + turn(n); }
C
if [ -z "${VMLINUX-}" ]; then
	# shellcheck disable=SC2054
	"${CC:-gcc}" -O2 -g -ffreestanding -nostdlib -static -no-pie -fno-pie -mcmodel=kernel -Wl,--build-id \
		-Wl,-Ttext=0xffffffff81000000,-e,start_kernel,--defsym=_text=0xffffffff81000000 -o vmlinux kernel.c ||
		bail "no vmlinux"
	VMLINUX=$TMP/vmlinux
fi
id=$(readelf -n "$VMLINUX" | sed -n 's/.*Build ID: //p')
nm -S --defined-only "$VMLINUX" | awk '$3 ~ /[tT]/ && $2 != "" && NF == 4 && !seen[$1]++ { print $4, $1, $2 }' | python3 -c '
import random, sys
random.seed(1)
functions = [(n, int(a, 16), int(a, 16) + int(s, 16)) for n, a, s in map(str.split, sys.stdin) if int(s, 16)]
functions = [f for f in functions if f[1] >= 0xffffffff80000000]
print("\n".join("%s %x %x" % f for f in functions))
every = [a for n, s, e in functions for a in range(s, e)]
with open("addresses", "w") as f:
    f.writelines("%x\n" % a for a in sorted(random.sample(every, min(len(every), 10000))))
' >functions
text=$(nm "$VMLINUX" | sed -n 's/ [A-Za-z] _text$//p')
forge() { python3 "$TOP/tests/oracles/forge.py" kernel "$1" "$2" "$3" "$4" "$text" addresses <functions; }
forge k.spoor "$id" 6.1.0-spoor 2a000000 || bail "no recording"

# By address: what is inlined there, innermost last, and its line.
tr '\n' '\0' <addresses | sed -z 's/^/0x/' | tr '\0' '\n' | llvm-symbolizer --obj="$VMLINUX" --functions=linkage >oracle
python3 - <<'PY' >wanted
import collections
functions = sorted((int(s, 16), int(e, 16), n) for n, s, e in map(str.split, open("functions")))
import bisect
starts = [f[0] for f in functions]
stacks, lines = collections.Counter(), collections.Counter()
for address, block in zip(open("addresses"), open("oracle").read().split("\n\n")):
    part = block.split("\n")
    name = functions[bisect.bisect(starts, int(address, 16)) - 1][2]
    inner, (file, line, _) = part[0:-2:2], part[1].rsplit(":", 2)
    if name.startswith("mod_") or file == "??":
        file, line = "[unknown]", 0
    if name.startswith("mod_"):
        inner = []
    stacks[";".join(["k", name] + inner[::-1])] += 1
    lines[name, file, int(line)] += 1
with open("wanted.lines", "w") as f:
    f.writelines(sorted("%d %s %s:%d\n" % (n, *k) for k, n in lines.items()))
print("\n".join(sorted("%s %d" % s for s in stacks.items())))
PY

folded() { "$SPOOR" export -f folded --no-cache -i k.spoor "$@" 2>err | sort >got; }
lines() { "$SPOOR" report -s sym,srcfile,srcline --no-cache --json -i k.spoor "$@" 2>err |
	jq -r '.rows[] | "\(.samples) \(.symbol) \(.srcfile):\(.srcline)"' | sort >got; }
release=6.1.0-spoor
folded
nok "without a vmlinux nothing is inlined" grep -q ';.*;' got
for place in usr/lib/debug/boot/vmlinux-$release usr/lib/debug/lib/modules/$release/vmlinux lib/modules/$release/build/vmlinux \
	boot/vmlinux-$release "usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"; do
	mkdir -p "root/$(dirname "$place")" && ln -s "$VMLINUX" "root/$place"
	folded --symfs root
	same "inlined functions, from $place" wanted got
	rm -r root
done
folded --vmlinux "$VMLINUX"
same "and of --vmlinux" wanted got
lines --vmlinux "$VMLINUX"
same "and lines" wanted.lines got
cp "$VMLINUX" other && objcopy --remove-section .note.gnu.build-id other 2>/dev/null
folded --vmlinux other --force
nok "a vmlinux of no build gives none" grep -q ';.*;' got
folded --no-inline --vmlinux "$VMLINUX"
nok "nor does any with --no-inline" grep -q ';.*;' got
mkdir -p cache
XDG_CACHE_HOME=$TMP/cache "$SPOOR" export -f folded --vmlinux "$VMLINUX" -i k.spoor 2>/dev/null | sort >got
same "answers are kept" wanted got
ok "by the kernel's build-id" test -s "cache/spoor/$id.sym"

# Another kernel, one that is not known, and releases that lead elsewhere.
mkdir -p root/usr/lib/debug/boot && ln -s "$VMLINUX" root/usr/lib/debug/boot/vmlinux-$release
forge k.spoor "$(printf %s "$id" | tr 0-9a-f 1-9a-f0)" $release 2a000000
folded --symfs root
nok "another build of that release gives none" grep -q ';.*;' got
forge k.spoor "$id" "../boot/vmlinux-$release" 2a000000
folded --symfs root
nok "a release is no path" grep -q ';.*;' got
forge k.spoor "$id" $release 0
folded --symfs root
same "a kernel that was not moved" wanted got
like "$("$SPOOR" report -s sym,srcline -i k.spoor 2>&1 | tr -d '\n#' | tr -s ' ')" \
	"\[kernel.kallsyms\]: no debug information;.*\(build-id $id\)" "what is missing is told"
done_testing
