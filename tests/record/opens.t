#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that others name, to a reader: what is no plain file is never opened. To open a device does something, to
# open a FIFO waits, and what is read of /proc/kmsg is gone for its reader. Inotify tells each opening.
. "$(dirname "$0")/../lib.sh"
need_command gcc python3 jq
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "devices: this needs root"

# COUNT PATH... -- COMMAND...: how often the command had each of the files opened.
cat >opened.py <<'END'
import ctypes, os, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
at = sys.argv.index("--")
out, paths, command = sys.argv[1], sys.argv[2:at], sys.argv[at + 1:]
fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
numbers = {libc.inotify_add_watch(fd, p.encode(), 0x20): p for p in paths}
assert -1 not in numbers
try:
    status = subprocess.run(command, timeout=120).returncode
except subprocess.TimeoutExpired:
    status = "hangs"
counts = dict.fromkeys(paths, 0)
while True:
    try:
        events = os.read(fd, 65536)
    except BlockingIOError:
        break
    while events:
        number, _, _, length = struct.unpack_from("iIII", events)
        counts[numbers.get(number, paths[0])] += 1
        events = events[16 + length:]
print(status, *(min(counts[p], 1) for p in paths), file=open(out, "w"))
END
opened() { python3 opened.py count "$@"; cat count; }

# --- reader_jit_device --------------------------------------------------------------------------

exits 0 "code made at run time, of which nothing tells" "$SPOOR" record -q -e cpu-clock:u -F 997 -o jit.spoor -- "$FIXTURES/jit" none
pid=$("$SPOOR" report --json -s pid,comm -i jit.spoor 2>err | jq '[.rows[] | select(.comm == "jit")][0].pid')
map=/tmp/perf-$pid.map
at_exit "rm -f $map $map.new $map.file $map.fifo"
rm -f "$map" && echo "1000 7ffffffff000 told" >"$map"
is "$(opened "$map" -- "$SPOOR" report -s sym -i jit.spoor 2>err >out; cat count)" "0 1" "reader_jit_device: a plain file is opened"
like "$(cat out)" ' told' "reader_jit_device: and names the code"
for kind in fifo device kmsg link; do
	rm -f "$map" real
	watched=$map
	case $kind in
	fifo) mkfifo -m 644 "$map" ;;
	device) mknod -m 644 "$map" c 1 5 ;;
	kmsg) ln -s /proc/kmsg "$map" && watched=/proc/kmsg ;;
	link) echo "1000 7ffffffff000 told" >real && ln -s "$TMP/real" "$map" && watched=$TMP/real ;;
	esac
	is "$(opened "$watched" -- "$SPOOR" report -s sym -i jit.spoor 2>err >out; cat count)" "0 0" "reader_jit_device: $kind: it is not opened"
	unlike "$(cat out)" ' told' "reader_jit_device: $kind: nor names anything"
done
rm -f "$map"

# --- split_kmsg ---------------------------------------------------------------------------------

cat >split.c <<'C'
volatile char pages[200][4096] __attribute__((aligned(4096)));
static inline void inner(int i) { pages[i][0] = 1; }
__attribute__((noinline)) void outer(void) { for (int i = 0; i < 200; i++) inner(i); }
int main(void) { outer(); return 0; }
C
gcc -O1 -g -gsplit-dwarf -c -o an_object_with_a_name.o split.c || bail "gcc failed"
gcc -o split an_object_with_a_name.o || bail "gcc failed"
dwo=$TMP/an_object_with_a_name.dwo
split() { opened "$1" -- "$SPOOR" symbolize --no-cache --obj split "${addresses[@]}" >out 2>err; }
mapfile -t addresses < <(nm split | awk '$3 == "outer" { print $1 }' | python3 -c '
start = int(input(), 16)
for i in range(0, 40, 2):
    print(f"{start + i:x}")')
is "$(split "$dwo"; cat count)" "0 1" "split_kmsg: a plain .dwo is opened"
like "$(cat out)" '^inner' "split_kmsg: and has the inlined function"
mv "$dwo" kept
for kind in fifo device kmsg; do
	rm -f "$dwo"
	watched=$dwo
	case $kind in
	fifo) mkfifo -m 644 "$dwo" ;;
	device) mknod -m 644 "$dwo" c 1 5 ;;
	kmsg) ln -s /proc/kmsg "$dwo" && watched=/proc/kmsg ;;
	esac
	is "$(split "$watched"; cat count)" "0 0" "split_kmsg: $kind by the name of a .dwo: it is not opened"
done
rm -f "$dwo"
python3 - split <<'PY' || bail "the name of the .dwo is not there"
import sys
b = open(sys.argv[1], "rb").read()
name = b"an_object_with_a_name.dwo\0"
assert b.count(name) == 1
open(sys.argv[1], "wb").write(b.replace(name, b"/proc/kmsg\0".ljust(len(name), b"\0")))
PY
is "$(split /proc/kmsg; cat count)" "0 0" "split_kmsg: a .dwo that is called /proc/kmsg is not opened"

# --- reader_open_race -----------------------------------------------------------------------------

# The path leads to the file and to a FIFO in turns, as fast as another process can.
cat >swap.py <<'END'
import os, sys
path, file, fifo = sys.argv[1:]
while True:
    for of in file, fifo:
        os.link(of, path + ".new")
        os.rename(path + ".new", path)
END
mv kept "$dwo.file" && mkfifo -m 644 "$dwo.fifo"
gcc -o split an_object_with_a_name.o || bail "gcc failed"
cp split split.file && mkfifo split.fifo
background python3 swap.py "$dwo" "$dwo.file" "$dwo.fifo"
background python3 swap.py split split.file split.fifo
echo "1000 7ffffffff000 told" >"$map.file" && mkfifo "$map.fifo"
background python3 swap.py "$map" "$map.file" "$map.fifo"
cat >race.sh <<'SH'
# Whether they find a file is luck.
for i in {1..30}; do
	"$SPOOR" symbolize --no-cache --obj split "$@"
	"$SPOOR" report -s sym -i jit.spoor
done
true
SH
read -r status file dwos fifo dwo_fifo map_fifo <<<"$(SPOOR=$SPOOR opened split.file "$dwo.file" split.fifo "$dwo.fifo" "$map.fifo" -- \
	bash race.sh "${addresses[@]}" >out 2>err; cat count)"
kill "${background_pids[@]}"
is "$status $fifo $dwo_fifo $map_fifo" "0 0 0 0" "reader_open_race: a FIFO in the place of a file that was looked at is never opened"
is "$file $dwos" "1 1" "reader_open_race: and the files were"

done_testing
