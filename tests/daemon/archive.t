#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reading an archive: the segments that a window reaches, each once, whatever lies beside them; and
# an archive that a daemon is writing.
. "$(dirname "$0")/../lib.sh"

maker=$BUILD/tests/bench/archive_maker
[ -x "$maker" ] || bail "$maker is not built"
end=1795230000 # 2026-11-21 03:00 UTC
a=archive

samples() # ARGUMENTS...: of spoor report; messages in $TMP/err
{
	"$SPOOR" report --json "$@" 2>"$TMP/err" | jq .samples
}

# Ten minutes of eight CPUs at 19 Hz, the last of them without an end.
mkdir $a
ok "ten segments of a minute" "$maker" -n -c 8 -s 60 -e $end $a 600
is "$(samples -i $a)" $((8 * 19 * 600)) "all of them are read"
is "$(grep -c 'not closed' err)" 0 "that the one being written has no end is not said"
is "$(samples $a --since '2026-11-21 02:54' --until '2026-11-21 02:55')" $((8 * 19 * 60)) "one minute"
is "$(samples $a --since @$((end - 330)) --until @$((end - 290)))" $((8 * 19 * 40)) "over two segments"
is "$(samples $a --since @$((end - 7)))" $((8 * 19 * 7)) "the end of the one being written"
n=$(samples $a --time 10%-20%) # from the first sample to the last it is some ms less
ok "a tenth of it all" sh -c "[ $n -ge $((8 * 19 * 59)) ] && [ $n -le $((8 * 19 * 61)) ]"
is "$(samples $a --since @$((end - 60)) --cpu 3)" $((19 * 60)) "of one CPU"
ok "lost is what the window lost" sh -c \
	"[ \$(\"$SPOOR\" report --json $a --since @$((end - 60)) 2>/dev/null | jq .lost) = 1 ]"
exits 2 "a window that ends before it begins" "$SPOOR" report $a --since @2 --until @1
like "$(cat err)" 'not after' "is said to"
exits 1 "a window of another year" "$SPOOR" report $a --since 2001-01-01 --until 2001-01-02
like "$(cat err)" 'no sample is .*: those of the archive are of ' "is said to be empty"
exits 1 "export of it" "$SPOOR" export -f perf-data -o none $a --since 2001-01-01 --until 2001-01-02
like "$(cat err)" 'no sample is .*: those of the archive are of ' "says the same"
nok "and writes nothing" [ -e none ]

# One CPU reads them one after another, two side by side: the same rows, words and messages.
for command in "report --header" "report --children --json --sort comm,sym,cpu" "export -f folded"; do
	# shellcheck disable=SC2086
	exits 0 "$command, side by side" "$SPOOR" $command -i $a
	mv out side
	mv err side.err
	# shellcheck disable=SC2086
	exits 0 "$command, by one CPU" taskset -c 0 "$SPOOR" $command -i $a
	ok "is the same" cmp out side
	ok "and says the same" cmp err side.err
done

# What stands beside the window is not opened; what is wrong inside it is told, and the rest is read.
first=$(find $a -name '*-000001.spoor')
cp "$first" copy
echo garbage >"$first"
is "$(samples $a --since @$((end - 60)))" $((8 * 19 * 60)) "a segment that is no recording, elsewhere"
is "$(grep -c 000001 err)" 0 "is not looked at"
is "$(samples $a)" $((8 * 19 * 540)) "all the others are read"
like "$(cat err)" '000001.spoor: not a spoor recording' "and it is named"
exits 1 "verify says so by its status" "$SPOOR" verify -q $a
cp copy "$first"
exits 0 "and it is clean with it back" "$SPOOR" verify -q $a
victim=$(find $a -name '*-000005.spoor')
printf X | dd of="$victim" bs=1 seek=300000 conv=notrunc 2>/dev/null
exits 3 "one is damaged" "$SPOOR" verify $a
ok "by name" grep -q "000005.spoor: damaged but readable" out
exits 0 "and reported on" "$SPOOR" report $a
like "$(cat err)" '000005.spoor: damaged' "with a word"
mv out side
exits 0 "by one CPU" taskset -c 0 "$SPOOR" report $a
ok "equally" cmp out side

# Names of the same recording, and directories in directories.
mkdir -p $a/kept/one $a/kept/two $a/captures
ln "$first" $a/kept/one/
ln "$first" $a/kept/two/
ln "$victim" $a/kept/two/
is "$(samples -i $a/kept/one)" $((8 * 19 * 60)) "a label of kept/"
is "$("$SPOOR" info --json $a/kept 2>/dev/null | jq .nr_recordings)" 2 "kept/ has each once"
chmod a+r $a/kept/*/*.spoor
ln -s "$TMP/copy" $a/kept/one/link.spoor
mkdir -m 0 $a/kept/closed
chmod 755 "$TMP"
nobody=()
[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
exits 0 "links and closed directories" ${nobody[@]+"${nobody[@]}"} "$SPOOR" info $a/kept
like "$(cat err)" 'kept/one/link.spoor: a symbolic link' "are left out with a word"
like "$(cat err)" 'kept/closed: Permission denied' "each"
rm $a/kept/one/link.spoor
rmdir $a/kept/closed
is "$("$SPOOR" info --json $a 2>/dev/null | jq .nr_recordings)" 10 "and the archive has them once"
exits 1 "no captures" "$SPOOR" report $a/captures
is "$("$SPOOR" dump $a --since @$((end - 61)) --until @$((end - 59)) 2>/dev/null | grep -c ' SAMPLE ')" \
	$((8 * 19 * 2)) "dump"
is "$("$SPOOR" export -f folded $a --since @$((end - 60)) 2>/dev/null | awk '{ n += $NF } END { print n }')" \
	$((8 * 19 * 60)) "folded stacks"

# A daemon that is writing one.
if ! can_record_all; then
	skip "sampling all CPUs needs root or kernel.perf_event_paranoid <= 0" 4
	done_testing
	exit
fi
spoord=$BUILD/spoord
[ -x "$spoord" ] || bail "there is no spoord"
printf '%s\n' "archive_directory = $TMP/live" "control_socket = $TMP/socket" "block_age = 1s" \
	"segment_age = 2s" "cpu_budget = 0" "max_use = 64M" "keep_free = 1" >spoord.conf
"$spoord" -c spoord.conf >daemon.log 2>&1 &
daemon=$!
background_pids+=("$daemon")
"$FIXTURES/burn" 30000 >/dev/null 2>&1 &
background_pids+=("$!")
for _ in $(seq 150); do
	[ "$(find live -maxdepth 1 -name '*.spoor' 2>/dev/null | wc -l)" -ge 2 ] && break
	sleep 0.1
done
n=$(samples -i live --since -1m)
ok "the last minute of a live archive" [ "${n:-0}" -gt 20 ]
is "$(grep -c 'not closed\|damaged' err)" 0 "without complaint" || diag_file err
kill "$daemon" && wait "$daemon"
m=$(samples -i live --since -5m)
ok "and all of it when the daemon has stopped" [ "${m:-0}" -ge "${n:-0}" ]
exits 0 "which is clean" "$SPOOR" verify -q live
done_testing
