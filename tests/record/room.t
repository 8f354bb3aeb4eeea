#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What one program takes of a reader has a bound of its own, below what there is for all.
. "$(dirname "$0")/../lib.sh"
need_command gcc python3 jq
need_record_all

# --- reader_names_full: a program whose names fill the room for names ---------------------------

# Every function of each faults once, in a page of its own.
faults() # NAME FUNCTIONS FORMAT
{
	python3 - "$@" >"$1.c" <<'PY'
import sys
name, n, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
print(f"char pages[{n} + 1][4096] __attribute__((aligned(4096)));")
for i in range(n):
    print(f"__attribute__((noinline)) void {form % i}(void) {{ pages[{i}][0] = 1; }}")
print("int main(void) {")
for i in range(n):
    print(f"{form % i}();")
print("return 0; }")
PY
	gcc -O1 -o "$1" "$1.c" || bail "gcc failed"
}
faults hostile 4000 f%d
faults normal 1000 normal_function_with_a_name_of_some_length_%d
# Its names are one string of 64 KiB, from each of its bytes on: the file is little larger for it.
python3 - hostile <<'PY' || bail "no hostile program"
import random, struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", b, 40)
shentsize, shnum = struct.unpack_from("<HH", b, 58)
section = lambda i: shoff + i * shentsize
for i in range(shnum):
    if struct.unpack_from("<I", b, section(i) + 4)[0] == 2:
        offset, size, link = struct.unpack_from("<QQI", b, section(i) + 24)
old, = struct.unpack_from("<Q", b, section(link) + 24)
wanted = 0
names = b"\0" + bytes(random.Random(1).choices(range(ord("a"), ord("z")), k=70000)) + b"\0"
for at in range(offset, offset + size, 24):
    name, = struct.unpack_from("<I", b, at)
    end = b.index(b"\0", old + name)
    text = bytes(b[old + name:end])
    if text[:1] == b"f" and text[1:].isdigit():
        wanted += 1
        struct.pack_into("<I", b, at, 1 + int(text[1:]))
    else:
        struct.pack_into("<I", b, at, 0)
struct.pack_into("<QQ", b, section(link) + 24, len(b), len(names))
b += names
open(sys.argv[1], "wb").write(b)
sys.exit(wanted != 4000)
PY
exits 0 "a recording of both" "$SPOOR" record -q -e minor-faults:u -c 1 -o both.spoor -- sh -c './hostile; ./normal'
"$SPOOR" report --json -i both.spoor >both.json 2>err
rows() { jq --arg c "$1" --arg s "$2" '[.rows[] | select(.comm == $c and (.symbol // "" | test($s)))] | length' both.json; }
is "$(rows normal '^normal_function_with_a_name_of_some_length_[0-9]+$')" 1000 "reader_names_full: the normal program has all of its names"
in_range "$(rows hostile '^[a-y]{4095}$')" 1000 2100 "reader_names_full: the hostile one has names of 4 KiB, of an eighth of the room"
in_range "$(jq '[.rows[] | select(.symbol == "[name left out]") | .samples] | add // 0' both.json)" 1900 3000 \
	"reader_names_full: and has lost the others"
like "$(cat err)" "names of functions.* were left out [0-9]+ times, the first of them of $TMP/hostile" "reader_names_full: it is said whose were left out"
# Its path is the program's word, too.
mkdir $'escape\e[2J' && cp hostile $'escape\e[2J/hostile'
"$SPOOR" record -q -e minor-faults:u -c 1 -o escape.spoor -- $'escape\e[2J/hostile'
"$SPOOR" report -i escape.spoor >out 2>err
like "$(cat err)" 'the first of them of .*/hostile' "reader_names_full: whose they were, by a path with an escape"
nok "which reaches no terminal" grep -q $'\e' err

# --- dwarf_inflate: programs whose debug information becomes much ---------------------------------

cat >measure.py <<'END'
import os, resource, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as out:
    print(os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024, file=out)
END
cat >lines.c <<'C'
volatile char pages[64][4096] __attribute__((aligned(4096)));
static inline void touch(int i) { pages[i][0] = 1; }
__attribute__((noinline)) void work(void) { for (int i = 0; i < 64; i++) touch(i); }
int main(void) { work(); return 0; }
C
for name in plain packed ranges origins; do
	gcc -O1 -g -gdwarf-4 -fno-omit-frame-pointer -no-pie -Wl,--build-id=uuid -o $name lines.c || bail "gcc failed"
done
# Its line program is 1 GiB of zeros that zlib packs.
python3 - packed <<'PY' || bail "no packed program"
import struct, sys, zlib
b = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", b, 40)
shentsize, shnum, shstrndx = struct.unpack_from("<HHH", b, 58)
section = lambda i: shoff + i * shentsize
names, = struct.unpack_from("<Q", b, section(shstrndx) + 24)
for i in range(shnum):
    name, = struct.unpack_from("<I", b, section(i))
    if b[names + name:].startswith(b".debug_line\0"):
        z = zlib.compressobj(1)
        packed = struct.pack("<IIQQ", 1, 0, 1 << 30, 1) + b"".join(z.compress(bytes(1 << 24)) for _ in range(64)) + z.flush()
        flags, = struct.unpack_from("<Q", b, section(i) + 8)
        struct.pack_into("<Q", b, section(i) + 8, flags | 0x800)
        struct.pack_into("<QQ", b, section(i) + 24, len(b), len(packed))
        b += packed
        break
open(sys.argv[1], "wb").write(b)
PY
# 20,000 units have one list of 20,000 ranges each.
ranges_s=$(cat <<'S'
.section .debug_abbrev
.byte 1, 0x11, 0, 0x55, 0x17, 0, 0, 0
.section .debug_info
.rept 20000
.long 12
.value 4
.long 0
.byte 8
.byte 1
.long 0
.endr
.section .debug_ranges
.set at, 0
.rept 20000
.quad work + at % 4, work + at % 4 + 200
.set at, at + 1
.endr
.quad 0, 0
S
)
echo "$ranges_s" >ranges.s
gcc -O1 -no-pie -Wl,--build-id=uuid -o ranges lines.c ranges.s || bail "gcc failed"
# 100,000 calls are inlined into one another, each is of the function behind it, and its name is that of the one behind that.
python3 - >origins.s <<'PY'
n = 100000
print(""".section .debug_abbrev
.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0
.byte 2, 0x2e, 1, 0x11, 1, 0x12, 7, 0, 0
.byte 3, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 7, 0, 0
.byte 4, 0x2e, 0, 0x31, 0x13, 0, 0, 0
.section .debug_info
start: .long end - start - 4
.value 4
.long 0
.byte 8
.byte 1
.quad work, 200
.byte 2
.quad work, 200""")
for i in range(n):
    print(f".byte 3\n.long o{i} - start\n.quad work, 200")
print(".zero %d" % (n + 1))
for i in range(n):
    print(f"o{i}: .byte 4\n.long o{(i + 1) % n} - start")
print(".byte 0\nend:")
PY
gcc -O1 -no-pie -Wl,--build-id=uuid -o origins lines.c origins.s || bail "gcc failed"
[ "$(id -u)" = 0 ] && chown 64321 packed ranges origins
export XDG_CACHE_HOME=$TMP/cache && mkdir cache
"$SPOOR" record -q -e minor-faults:u -c 1 -o dwarf.spoor -- sh -c './packed; ./ranges; ./origins; ./plain'
available=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
look() # NAME
{
	python3 measure.py measured "$SPOOR" export -f folded -i dwarf.spoor -o "$1.folded" 2>"$1.err"
	read -r status mib <measured
	is "$status" 0 "dwarf_inflate: $1"
	ok "dwarf_inflate: $1: each process has $mib MiB, a quarter of $available at most, and below 1 GiB" \
		[ "$mib" -lt $((available / 4 < 1024 ? available / 4 : 1024)) ]
	like "$(grep '^plain.*touch' "$1.folded")" ';work;touch [0-9]+' "dwarf_inflate: $1: the others have their inlined functions"
}
look first
for name in packed ranges; do
	like "$(cat first.err)" "/$name: no lines and no inlined functions: [^,]*$" "dwarf_inflate: $name: it is said why it has none"
	unlike "$(cat first.err)" "/$name: .*earlier look" "dwarf_inflate: $name: by this look"
done
diag_file first.err
look second
for name in packed ranges; do
	like "$(cat second.err)" "/$name: no lines and no inlined functions: .*, as an earlier look within the hour found$" \
		"dwarf_inflate: $name: it is not read a second time"
done
# Another file by that path is read.
touch ranges
look third
unlike "$(grep /ranges: third.err)" "earlier look" "dwarf_inflate: a file that was changed is read again"

# What is inside of a recording is its author's, whoever has unpacked it: it has the time of files of others.
cp ranges mine
"$SPOOR" record -q -e minor-faults:u -c 1 -o mine.spoor -- ./mine
"$SPOOR" pack -q -i mine.spoor -o unnamed.spoor 2>err || diag_file err
rm mine
XDG_CACHE_HOME=$TMP/none "$SPOOR" export -f folded -i unnamed.spoor -o mine.folded 2>mine.err &
reader=$!
while kill -0 $reader 2>/dev/null; do
	for worker in $(pgrep -P $reader); do
		sed -n 's/^Max cpu time *\([0-9]*\) .*/\1/p' "/proc/$worker/limits" 2>/dev/null
	done
	sleep 0.01
done | sort -n | tail -n 1 >seconds
in_range "$(cat seconds)" 1 15 "dwarf_inflate: a file in a recording has a quarter of 60 s at most"

# In a control group whose memory is full of pages of files, which the kernel gives up. How full it is, is made up.
if [ "$(id -u)" = 0 ]; then
	gcc -O1 -g -no-pie -o much hostile.c || bail "gcc failed"
	address=$(nm much | awk '$3 == "main" { print $1 }')
	group=group$(sed -n 's/^0:://p' /proc/self/cgroup)
	mkdir -p "$group" && echo 1073741824 | tee "$group/memory.max" >"$group/memory.current"
	in_group() # MEMORY.STAT...
	{
		printf '%s\n' "$@" >"$group/memory.stat"
		unshare --mount --propagation private sh -c 'mount --bind group /sys/fs/cgroup &&
			exec "$SPOOR" symbolize --no-cache --obj much "$0"' "$address" 2>err
	}
	unlike "$(in_group 'anon 1073741824' 'inactive_file 0' 'active_file 0')" 'hostile.c:[0-9]' \
		"a full control group has no memory for debug information"
	like "$(in_group 'anon 123456789' 'inactive_file 900000000' 'active_file 50000000')" 'hostile.c:[0-9]' \
		"one whose memory is a cache has"
fi

# --- a program of another user with a string table that is a hole of 512 MiB -----------------------

if [ "$(id -u)" = 0 ]; then
	gcc -O1 -no-pie -Wl,--build-id=uuid -o sparse lines.c || bail "gcc failed"
	python3 - sparse <<'PY' || bail "no sparse program"
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", b, 40)
shentsize, shnum = struct.unpack_from("<HH", b, 58)
section = lambda i: shoff + i * shentsize
for i in range(shnum):
    if struct.unpack_from("<I", b, section(i) + 4)[0] == 2:
        link, = struct.unpack_from("<I", b, section(i) + 40)
at, size = struct.unpack_from("<QQ", b, section(link) + 24)
names = b[at:at + size]
struct.pack_into("<QQ", b, section(link) + 24, len(b), 1 << 29)
with open(sys.argv[1], "r+b") as f:
    f.write(b + names)
    f.truncate(len(b) + (1 << 29))
PY
	chown 64321 sparse
	"$SPOOR" record -q -e minor-faults:u -c 1 -o sparse.spoor -- sh -c './sparse; ./normal'
	python3 measure.py measured "$SPOOR" report --json -i sparse.spoor >both.json 2>err
	read -r status mib <measured
	is "$status $((mib < 256))" "0 1" "reader_names_full: symbols of another user's file take a part of the room for them: $mib MiB"
	is "$(rows normal '^normal_function_with_a_name_of_some_length_[0-9]+$')" 1000 "reader_names_full: and the others have theirs"
	like "$(cat err)" "names of functions.* were left out 1 times, the first of them of $TMP/sparse" "reader_names_full: it is said whose are missing"

	# Real programs have symbols of this size, and there are many copies of them.
	large() # NAME SYMBOLS
	{
		python3 - "$2" >symbols.s <<'PY'
import sys
print(".section .note.GNU-stack\n.text\n.globl place\nplace: .zero 80000")
for i in range(int(sys.argv[1])):
    print(f".set {'x' * 1000}{i}, place + {i}\n.type {'x' * 1000}{i}, @function")
PY
		gcc -O1 -no-pie -Wl,--build-id -o "$1" lines.c symbols.s || bail "gcc failed"
		chown 64321 "$1"
	}
	large larger 75000
	large large 28000
	for i in $(seq 40); do
		mkdir -p "copies/$i" && ln large "copies/$i/large"
	done
	"$SPOOR" record -q -e minor-faults:u -c 1 -o large.spoor -- sh -c './larger; for i in $(seq 40); do ./copies/$i/large; done'
	python3 measure.py measured "$SPOOR" report --json -s comm,sym -i large.spoor >both.json 2>err
	read -r status mib <measured
	is "$status $((mib < 300))" "0 1" "40 copies of a program of another user are read once: $mib MiB"
	for name in larger large; do
		is "$(jq --arg c $name '[.rows[] | select(.comm == $c and (.symbol | test("^\\[unknown\\]$|\\[0x[0-9a-f]+\\]$")))] | length' both.json)" 0 "$name: all functions have names"
	done
	is "$(cat err)" "" "and nothing is left out"
fi

done_testing
