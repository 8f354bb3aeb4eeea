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

done_testing
