#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# spoor pack of a window of an archive: one file, of which every command says what it said of the archive and that
# window; what of it is damaged or cut costs no more than that.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq python3
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'

cat >spoord.conf <<END2
archive_directory = $TMP/archive
control_socket = $socket
frequency = 199
cpu_budget = 0
max_use = 64M
keep_free = 0
block_age = 1s
END2
sealed() { find archive -maxdepth 1 -name '*.spoor' | wc -l; }
seconds() # N: of samples in the segment that is written
{
	local from

	from=$(date +%s)
	at_least() { [ "$(ctl status --json | jq "$(date +%s) - $from")" -ge "$1" ]; }
	wait_for 30 at_least "$1"
}
day() { date -u '+%F %T'; }
cp "$FIXTURES/deep" deep
background ./deep 60000
start
wait_for 20 samples_over 10 || bail "no daemon"
seconds 3
ctl rotate >/dev/null
wait_for 20 test "$(sealed)" = 1
since=$(day)
seconds 3
ctl rotate >/dev/null
seconds 3
until=$(day)
seconds 2
whole() { [ "$("$SPOOR" report -i archive --since "$until" --json 2>/dev/null | jq -s '.[0].samples // 0')" -gt 20 ]; }
ok "there are samples behind the window" wait_for 30 whole

# --- while it is written -------------------------------------------------------------------------

exits 0 "a window is packed" "$SPOOR" pack archive --since "$since" --until "$until" -o w.spoor
like "$(cat err)" '^\[ spoor pack: 3 recordings, [0-9]+ objects, [0-9.]+ MB more, in w\.spoor \]$' "which is told"
exits 0 "the last seconds" "$SPOOR" pack archive --last 3s -o last.spoor -q
ok "it stops" stop
in_range "$("$SPOOR" report --json last.spoor 2>/dev/null | jq '(.end_ns - .start_ns) / 1e9')" 0.1 3.01 "are no more than these"
is "$(find . -maxdepth 1 -name '.*spoor*' | wc -l)" 0 "nothing else is left"
is "$(("0$(stat -c %a w.spoor)" & ~0$(stat -c %a archive/*1.spoor)))" 0 "it may be read by no more than the archive"

# --- the same answers ----------------------------------------------------------------------------

# By name only of our own program: others of this machine may be replaced between two reads.
rm deep
of() # INPUT OPTION...: what a command says, without the input's name
{
	local input=$1

	shift
	if [ "$input" = archive ]; then
		set -- "$@" --since "$since" --until "$until"
	fi
	"$SPOOR" "$@" -i "$input" 2>&1 | sed "s|^# Recording: $input|# Recording: X|; s|$input|X|g; s/\\.active//"
}
same_as_archive() # NAME OPTION...
{
	local name=$1

	shift
	of archive "$@" >at_home
	of w.spoor "$@" >away
	like "$(wc -l <away)" '^[0-9]{2,}$|^[3-9]$' "$name: there is an answer"
	same "$name: the same" at_home away
}
same_as_archive report report --no-pager --comm deep -s dso,sym,srcline
same_as_archive tree tree --no-pager --comm deep
same_as_archive timeline timeline --no-pager
same_as_archive commands report --no-pager -s comm,pid
same_as_archive folded export --format folded --comm deep
same_as_archive dump dump --comm deep
like "$(of w.spoor report --no-pager --comm deep -s sym,srcline)" 'deep_leaf +deep\.c:[0-9]+' "a program that is gone has names and lines"
like "$(of w.spoor annotate --no-pager --comm deep deep_leaf)" '(add|mov|cmp|lea|imul|xor)' "and instructions"
"$SPOOR" export --format perf-data -i w.spoor -o w.data 2>err
is "$("$SPOOR" report --json w.data 2>/dev/null | jq .samples)" "$("$SPOOR" report --json w.spoor | jq .samples)" "as perf.data it has its samples"
mkdir cache
"$SPOOR" flamegraph -i w.spoor -o page.html 2>err
ok "a page is made of it" grep -q deep_leaf page.html

# Its window holds what is asked for.
is "$("$SPOOR" report --json w.spoor --since "$since" --until "$until" | jq .samples)" \
	"$("$SPOOR" report --json w.spoor | jq .samples)" "a window asked for again is the same"
is "$("$SPOOR" report --json w.spoor --since 2000-01-01 | jq .samples)" \
	"$("$SPOOR" report --json w.spoor | jq .samples)" "a wider one is that of the file"
part() { "$SPOOR" report --json w.spoor --time "$1" 2>/dev/null | jq .samples; }
# The end of a slice is in it.
in_range "$(($(part 0%-50%) + $(part 50%-100%)))" "$("$SPOOR" report --json w.spoor | jq .samples)" \
	"$("$SPOOR" report --json w.spoor | jq '.samples + 2')" "percents are of its window"
in_range "$("$SPOOR" report --json w.spoor --time 0%-50% 2>/dev/null | jq '.end_ns - .start_ns')" \
	1 "$("$SPOOR" report --json w.spoor | jq '(.end_ns - .start_ns) * 0.501')" "half of it"
"$SPOOR" report --json w.spoor --until 2000-01-01 >out 2>err
like "$(cat err)" 'no sample|--until is not after --since' "before it there is nothing"

# --- what it is ----------------------------------------------------------------------------------

is "$("$SPOOR" info --json w.spoor | jq .nr_recordings)" 3 "info has its recordings"
is "$("$SPOOR" info --json w.spoor | jq -r '.recordings[].file' | sed 's|.*/||')" \
	"$(cd archive && find . -maxdepth 1 -name '*.spoor' -printf '%f\n' | sort)" "by their names"
exits 0 "all of it is clean" "$SPOOR" verify w.spoor
is "$(grep -c ': clean, ' out)" 4 "what is before them, too"
for segment in archive/*1.spoor archive/*2.spoor; do
	ok "$(basename "$segment"): byte for byte" python3 -c '
import sys
sys.exit(open(sys.argv[1], "rb").read() not in open(sys.argv[2], "rb").read())' "$segment" w.spoor
done
exits 0 "standard input" "$SPOOR" report --json -i - <w.spoor
is "$(jq .samples out)" "$("$SPOOR" report --json w.spoor | jq .samples)" "has all of it"
exits 2 "no output" "$SPOOR" pack archive
like "$(cat err)" '-o FILE' "is asked for"
exits 1 "packed again" "$SPOOR" pack w.spoor -o again.spoor
like "$(cat err)" 'was packed when it was made' "is refused"
first=$(find archive -maxdepth 1 -name '*1.spoor')
exits 2 "a window of one recording" "$SPOOR" pack --last 1s "$first" -o one.spoor
exits 1 "a window with nothing" "$SPOOR" pack archive --until 2000-01-01 -o none.spoor
nok "no file is made" test -e none.spoor
mkdir both && cp "$first" w.spoor both/
exits 0 "beside other recordings" "$SPOOR" report --json both
like "$(cat err)" 'both/w\.spoor: holds a window of an archive, and is left out: name it alone' "it is left out"
is "$(jq .samples out)" "$("$SPOOR" report --json "$first" | jq .samples)" "and they are not"

# --- what happens to it --------------------------------------------------------------------------

size=$(stat -c %s w.spoor)
all=$("$SPOOR" report --json w.spoor | jq .samples)
flip() # OFFSET
{
	cp w.spoor bad.spoor
	python3 - "$1" <<'PY'
import sys
with open("bad.spoor", "r+b") as f:
    f.seek(int(sys.argv[1]))
    b = f.read(1)
    f.seek(int(sys.argv[1]))
    f.write(bytes([b[0] ^ 0x40]))
PY
}
told=0 read=0 fine=0
for i in $(seq 0 11); do
	flip $((i * (size - 1) / 11))
	"$SPOOR" verify -q bad.spoor >/dev/null 2>&1
	status=$?
	[ $status = 3 ] || [ $status = 1 ] && told=$((told + 1))
	"$SPOOR" report --json bad.spoor >out 2>err
	[ $? -le 1 ] && read=$((read + 1))
	n=$(jq -s '.[0].samples // 0' out)
	[ "$n" -gt 0 ] && [ "$n" -le "$all" ] && fine=$((fine + 1))
done
is "$told" 12 "each damage is told by verify"
is "$read" 12 "none ends the program"
is "$fine" 12 "and what is whole is read"
flip 20
is "$("$SPOOR" report --json bad.spoor 2>/dev/null | jq .samples)" "$all" "without its header it is the same"
end=$(python3 -c '
import sys
b, size, n = open("w.spoor", "rb").read(), int(sys.argv[1]), int(sys.argv[2])
print(b.rfind(b"\xf0spB\r\n\x1a\xb5", 0, size - n))' "$size" "$(python3 -c '
import json, subprocess, sys
print(sum(r["file_bytes"] for r in json.loads(subprocess.run([sys.argv[1], "info", "--json", "w.spoor"], capture_output=True).stdout)["recordings"]))' "$SPOOR")")
flip "$((end + 20))"
"$SPOOR" report --json bad.spoor >out 2>err
is "$(jq .samples out)" "$all" "without the end before its recordings they are found"
cp w.spoor cut.spoor
# The last one has the last seconds of the window.
truncate -s -$(("$("$SPOOR" info --json w.spoor | jq '.recordings[2].file_bytes')" - 100)) cut.spoor
exits 0 "cut at its end" "$SPOOR" report --json cut.spoor
like "$(cat err)" 'cut\.spoor: is cut: [0-9]+ bytes are missing at its end' "it is told"
n=$(jq .samples out)
in_range "$n" 1 $((all - 1)) "what is there is read"
done_testing
