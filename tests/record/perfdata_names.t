#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Names of a perf.data, which brings neither kernel symbols nor ids of files without a build-id:
# from the running kernel, from files that are given, from files that may be the recorded ones.
. "$(dirname "$0")/../lib.sh"
need_command perf jq python3
[ "$(id -u)" -eq 0 ] || skip_all "only root sees where the kernel is"

record() # FILE COMMAND...
{
	local file=$1
	shift
	perf_record -q -e cpu-clock -F 2000 -o "$file" -- "$@" >perf.out 2>&1 || diag_file perf.out
}

kernel_names() # FILE [OPTION...]
{
	local file=$1
	shift
	"$SPOOR" report --json --comm dd --sort dso,sym "$file" "$@" 2>err |
		jq -r '.rows[] | select(.kernel and .symbol != "[unknown]") | "\(.samples) \(.dso) \(.symbol)"' | sort
}

# --- the running kernel -----------------------------------------------------------------------
# Of several functions of one name, as the kernel's many NF_HOOK.constprop.0, perf has a row each.
record p.data dd if=/dev/zero of=/dev/null bs=64k count=200000
perf report -i p.data --stdio --comm dd -s dso,sym -F sample,dso,sym 2>/dev/null |
	awk '$3 == "[k]" && $4 !~ /^0x/ { n[$2 " " $4] += $1 } END { for (k in n) print n[k], k }' | sort >want
in_range "$(awk '{ n += $1 } END { print n + 0 }' want)" 50 1e9 "perf names kernel functions"
kernel_names p.data >got
same "this kernel's names, as perf has them" want got
perf record -q -e cpu-clock -F 2000 -o - -- dd if=/dev/zero of=/dev/null bs=64k count=200000 \
	2>/dev/null >pipe.data
in_range "$(kernel_names pipe.data | awk '{ n += $1 } END { print n + 0 }')" 50 1e9 "also of a perf.data in pipe mode"
like "$(cat err)" 'names of \[kernel.kallsyms\] are not verified' "which has no build-id of it: the release tells"
exits 0 "an import" "$SPOOR" import -o p.spoor p.data
kernel_names p.spoor >got
same "also when it was imported" want got

# --- another kernel ---------------------------------------------------------------------------
# The same recording of a kernel with another build-id.
id=$(perf buildid-list -k)
python3 - "$id" <<'END'
import sys
old = bytes.fromhex(sys.argv[1])
data = open("p.data", "rb").read()
assert old in data
open("other.data", "wb").write(data.replace(old, bytes(b ^ 0xff for b in old)))
END
is "$(kernel_names other.data)" "" "another kernel's names are not this one's"
like "$("$SPOOR" report other.data 2>&1 | tr -d '\n#' | tr -s ' ')" \
	"recorded kernel is not the one that runs here: give its --kallsyms or --vmlinux" "which is said, and what helps"
cp /proc/kallsyms kallsyms
kernel_names other.data --kallsyms kallsyms >got
same "--kallsyms has its names" want got
# The kernel lies elsewhere after each boot.
grep -v '\[' kallsyms | python3 -c '
import sys
for line in sys.stdin:
    a, rest = line.split(" ", 1)
    print("%016x %s" % (int(a, 16) + 0x1400000, rest), end="")' >kallsyms.moved
grep -v ' \[[^k]' want >want.kernel
kernel_names other.data --kallsyms kallsyms.moved >got
same "also when it lies elsewhere" want.kernel got
sed 's/^[0-9a-f]*/0000000000000000/' kallsyms >kallsyms.hidden
is "$(kernel_names other.data --kallsyms kallsyms.hidden)" "" "not those of a user who may not see them"
exits 1 "a file that is not there" "$SPOOR" report --kallsyms none other.data
like "$("$SPOOR" report --kallsyms none other.data 2>&1)" "none: No such file" "is said"
exits 2 "one of the two" "$SPOOR" report --kallsyms kallsyms --vmlinux kallsyms other.data

# An ELF file with a few of its functions where they are, as vmlinux has them without KASLR.
hot=$(sort -rn want.kernel | head -n 1)
python3 - "${hot##* }" >vmlinux.s <<'END'
import sys
symbols = []
for line in open("kallsyms"):
    a, kind, name = line.split()[:3]
    if "[" not in line and kind in "tT":
        symbols.append((int(a, 16), name))
symbols.sort()
text = next(a for a, n in symbols if n == "_text" or n == "_stext")
place = next(i for i, s in enumerate(symbols) if s[1] == sys.argv[1])
print(".globl _text\n_text:\n.globl _stext\n_stext:")
last = text
for a, name in symbols[place - 5:place + 6]:
    if a > last:
        print(".org 0x%x\n.globl %s\n.type %s,@function\n%s:" % (a - text, name, name, name))
        last = a
END
as -o vmlinux.o vmlinux.s || bail "no vmlinux"
ld -Ttext=0xffffffff81000000 -e _text --build-id=0x"$id" -o vmlinux vmlinux.o || bail "no vmlinux"
kernel_names p.data --vmlinux vmlinux | grep -xF "$hot" >got
is "$(cat got)" "$hot" "--vmlinux names what it has"
is "$(kernel_names other.data --vmlinux vmlinux)" "" "not of another build"
like "$("$SPOOR" report --vmlinux vmlinux other.data 2>&1 | tr -d '\n#' | tr -s ' ')" \
	"the vmlinux given is of another build \\(--force takes it\\)" "which is said"
is "$(kernel_names other.data --vmlinux vmlinux --force | grep -xF "$hot")" "$hot" "--force takes it"
like "$(cat err)" "names of \[kernel.kallsyms\] are forced" "and says so"

strip -o vmlinux.stripped vmlinux
like "$("$SPOOR" report --vmlinux vmlinux.stripped p.data 2>&1 | tr -d '\n#' | tr -s ' ')" \
	"given with --vmlinux cannot be read, or has no symbols" "a stripped one says nothing"
# perf finds it in the working directory, and calls the kernel by it (6.12 no more).
record v.data dd if=/dev/zero of=/dev/null bs=64k count=200000
like "$(perf buildid-list -i v.data)" "$id .*(vmlinux|\[kernel)" "perf calls the kernel vmlinux"
is "$(kernel_names v.data | grep -cF read_zero)$(cat err)" 1 "it is the kernel all the same"
rm vmlinux

# --- files without a build-id -----------------------------------------------------------------
hottest() # FILE [OPTION...]
{
	local file=$1
	shift
	"$SPOOR" report --json --comm plain --sort dso,sym "$file" "$@" 2>err |
		jq -r '.rows | map(select(.dso == "plain"))[0] | .dso + " " + .symbol'
}

build() # OUT OPTION...
{
	local out=$1
	shift
	"${CC:-gcc}" -O1 -g -pthread -fno-omit-frame-pointer -Wl,--build-id=none -o "$out" "$@" \
		"$TOP/tests/fixtures/burn.c" || bail "no compiler"
}

build plain
touch -d '1 hour ago' plain
record f.data ./plain 400
is "$(hottest f.data)" "plain burn_hot" "a file of the same path, pages and age names"
like "$(cat err)" "names of $TMP/plain are not verified" "which is not verified, it is said"
is "$("$SPOOR" report --json --comm plain f.data 2>/dev/null | jq -c '.doubts[] | select(.dso_path | endswith("plain")).doubt')" \
	'"unverified"' "to scripts, too"
like "$("$SPOOR" export -f folded f.data 2>&1)" "names of $TMP/plain are not verified" "to who exports as well"
touch plain
touch -d '1 minute ago' f.data
is "$(hottest f.data)" "plain [unknown]" "a younger one does not"
like "$("$SPOOR" report f.data 2>&1 | tr -d '\n#' | tr -s ' ')" \
	"plain: no build-id was recorded: the file here may be another one; --force takes it" "and why is told"
is "$(hottest f.data --force)" "plain burn_hot" "--force takes it"
like "$(cat err)" "names of $TMP/plain are forced" "and says so"
printf 'int padding(int x) { switch (x) {' >pad.c
for i in $(seq 2000); do printf 'case %d: return x * %d;\n' $((i * 7)) $((i * i)); done >>pad.c
echo '} return 0; }' >>pad.c
build plain pad.c
touch -d '1 hour ago' plain
is "$(hottest f.data)" "plain [unknown]" "one of other pages does not"

# --- what has no name has an address ----------------------------------------------------------
# Not optimized, the loop has more than one place where samples stand.
build fixed -O0 -no-pie -Wl,--build-id=sha1
strip fixed
# Another program is in the kernel all the time, which this one need not be in any sample.
record a.data sh -c './fixed 400; exec dd if=/dev/zero of=/dev/null bs=1 count=300000 2>/dev/null'
perf script -G -i a.data -F ip,sym,dso 2>/dev/null | sed -n 's/^ *\([0-9a-f]*\) .*fixed)$/0x\1/p' | sort | uniq -c |
	awk '{ print $1, $2 }' | sort >want
"$SPOOR" report --json --dso fixed -s dso,sym,address a.data | jq -r '.rows[] |
	select(.symbol | test("^(\\[unknown\\]|fixed\\[0x[0-9a-f]+\\])$")) | "\(.samples) \(.address)"' | sort >got
in_range "$(wc -l <want)" 2 1e9 "perf has a stripped program's addresses"
same "rows by address, without a name" want got
"$SPOOR" report -q --comm dd --dso '[kernel.kallsyms]' -s sym,address a.data | awk '{ print $4 }' | sort >got
perf script -G -i a.data -F ip,dso --comm dd 2>/dev/null | sed -n 's/^ *\([0-9a-f]*\) (\[kernel.kallsyms\])$/0x\1/p' |
	sort -u >want
same "of the kernel, with one" want got

done_testing
