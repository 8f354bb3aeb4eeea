#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 80s
#
# What the three programs say, and what they understand: times, lengths of time.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_command jq
spoorctl=$BUILD/spoorctl
spoord=$BUILD/spoord

"$SPOOR" record -e cpu-clock:u -o one.spoor -- "$FIXTURES/burn" 200 >/dev/null 2>record.err ||
	bail "recording failed: $(cat record.err)"

# --- lengths of time, the same everywhere: 2 is wrong usage (of spoord: 1); nobody listens to spoorctl

lengths() # TEXT: what each program thinks of it
{
	local record capture config

	"$SPOOR" record --duration "$1" -o x.spoor -- true >/dev/null 2>&1
	record=$?
	"$spoorctl" --socket "$TMP/nobody" capture --duration "$1" >/dev/null 2>&1
	capture=$?
	printf 'max_capture_time = %s\n' "$1" >x.conf
	"$spoord" -n -c x.conf >/dev/null 2>&1
	config=$?
	echo $record $capture $config
}
for length in 30 30s 1h30m "1 h 30 min" 1.5min .5h+30s 1month 2weeks 5y; do
	is "$(lengths "$length")" "0 1 0" "$length is a length of time"
done
for length in "" x 5x "5 parsecs" -1s 1h-5s 0; do
	is "$(lengths "$length")" "2 2 1" "'$length' is none"
done
printf 'max_capture_time = 1h30m\n' >x.conf
is "$("$spoord" -n -c x.conf | grep max_capture_time)" "max_capture_time = 90m" "read as it is meant"
is "$("$SPOOR" record --duration '0.1s 100ms' -o x.spoor -- sleep 60 2>/dev/null; "$SPOOR" info --json x.spoor |
	jq '.duration_ns < 30e9')" true "and heeded"

# --- points in time

times() # TEXT
{
	local report keep

	"$SPOOR" report --since "$1" one.spoor >/dev/null 2>&1
	report=$?
	"$spoorctl" --socket "$TMP/nobody" keep --since "$1" >/dev/null 2>&1
	keep=$?
	echo $report $keep
}
for time in 10m "1h 30min" -10m "10 min ago" yesterday "2012-11-23 03:12" 2012-11-23T03:12:00+01:00 \
	2012-11-23T02:12:00Z "2012-11-23 03:12 Europe/Berlin" @1353640320; do
	is "$(times "$time")" "0 1" "$time is a time"
done
for time in 10 2026 25:00 "Sun 2012-11-23" "2012-11-23 03:12 Mars/Olympus" -60y; do
	is "$(times "$time")" "2 2" "$time is none"
done
samples() # OPTION...
{
	"$SPOOR" report --json "$@" one.spoor | jq .samples
}
start=$("$SPOOR" info --json one.spoor | jq '.start_realtime_ns / 1e9 | floor')
for since in 10min "$(date -u -d "@$start" +%FT%TZ)" "$(TZ=Asia/Tokyo date -d "@$start" +%FT%T%:z)" \
	"$(TZ=Asia/Tokyo date -d "@$start" '+%F %T Asia/Tokyo')"; do
	is "$(samples --since "$since")" "$(samples)" "--since $since: all of it"
	is "$(samples --until "$since")" 0 "--until $since: nothing"
done

# --- which recording, and why nothing of it is shown; times are those of date(1)

export TZ=UTC
"$SPOOR" info --json one.spoor >one.json
"$SPOOR" report --json one.spoor >report.json
first=$(json report.json '.first_realtime_ns / 1e9 | floor')
last=$(json report.json '.last_realtime_ns / 1e9 | floor')
all=$(json one.json .samples)
in_range "$first" "$start" "$((last + 1))" "the first sample is after the start"
ns=$(json one.json .duration_ns)
in_range "$last" "$first" $((start + 1 + (ns + 999999999) / 1000000000)) "the last one before the end"
if [ "$first" = "$last" ]; then
	range=$(date -d "@$first" '+%F %T UTC')
else
	range="$(date -d "@$first" '+%F %T') to $(date -d "@$last" '+%T UTC')"
fi
line() # N OPTION...: the Nth line of a report
{
	local n=$1

	shift
	"$SPOOR" report "$@" 2>/dev/null | sed -n "${n}p"
}
host=$(uname -n)
is "$(line 1 one.spoor)" "# Recording: one.spoor, host $host, $range" "a report says of what it is"
cp one.spoor recording.spoor
is "$(line 1)" "# Recording: recording.spoor, host $host, $range" "also when nobody named the file"
rm recording.spoor
is "$(TZ=Asia/Tokyo line 1 one.spoor | grep -c ' JST$')" 1 "in local time"
"$SPOOR" export -f perf-data-file -o one.data one.spoor 2>/dev/null
is "$(line 1 one.data)" "# Recording: one.data, host $host, $range" "of a perf.data, too"
cp one.spoor $'one\e[31m.spoor'
is "$(line 1 $'one\e[31m.spoor' | cut -d, -f1)" '# Recording: one\033[31m.spoor' "nothing reaches the terminal raw"

mkdir archive
cp one.spoor archive/a.spoor
cp one.spoor archive/b.spoor
is "$(line 1 archive)" "# Recording: archive, host $host, $range" "of an archive"
nothing() # WHAT OPTION...: what is said where filters leave nothing
{
	local what=$1

	shift
	case $what in
	report) "$SPOOR" report "$@" one.spoor 2>err | sed -n 's/^# No sample/spoor: one.spoor: no sample/; s/\.$//; /^spoor/p' ;;
	dump) { "$SPOOR" dump "$@" one.spoor >/dev/null; } 2>&1 ;;
	folded) "$SPOOR" export -f folded "$@" one.spoor 2>&1 ;;
	perf-data) "$SPOOR" export -f perf-data -o /dev/null "$@" one.spoor 2>&1 ;;
	json) { "$SPOOR" report --json "$@" one.spoor >/dev/null; } 2>&1 ;;
	quiet) "$SPOOR" report -q "$@" one.spoor 2>&1 ;;
	esac
}
for what in report dump folded perf-data json quiet; do
	is "$(nothing $what --cpu 4095 | head -n 1)" "spoor: one.spoor: no sample is left: the filters leave out all of $all, of $range" \
		"$what: filters leave nothing"
	is "$(nothing $what --since 2020-01-02 --until '2020-01-02 10:00')" \
		"spoor: one.spoor: no sample is from 2020-01-02 00:00:00 to 10:00:00 UTC: the recording has $all, of $range" \
		"$what: nor does a window"
done
for name in comm dso symbol cgroup event; do
	like "$(nothing report --$name nobody)" "all of $all, of" "--$name"
done
is "$(nothing report --until 2020-01-02)" \
	"spoor: one.spoor: no sample is before 2020-01-02 00:00:00 UTC: the recording has $all, of $range" "--until alone"
like "$(TZ=America/New_York nothing report --since 2020-10-31 --until 2020-11-02)" \
	'no sample is from 2020-10-31 00:00:00 EDT to 2020-11-02 00:00:00 EST: ' "each end in its zone where summer ends between them"
clock=$("$SPOOR" dump one.spoor | awk '$4 == "SAMPLE" { print $1 }' | sed -n '1p;$p' | sed 's/...$//' | paste -sd' ')
is "$(nothing report --time 0,0.5)" "spoor: one.spoor: no sample is before 0.500000 s: the recording has $all, of ${clock% *} s to ${clock#* } s" \
	"--time: by the clock that dump prints"
exits 0 "an archive without anything of a time" "$SPOOR" report --since 2090-01-01 archive
like "$(cat out)" "^# No sample is since 2090-01-01 00:00:00 UTC: those of the archive are of $range.$" "says of when it is"
"$SPOOR" record -e cpu-clock:u -c 100000000000 -o empty.spoor -- true 2>/dev/null
is "$(line 1 empty.spoor)" "# Recording: empty.spoor, host $host" "of nothing there is no time"
unset TZ

# --- copied stacks, and what is missing of them

"$SPOOR" record -e cpu-clock:u --call-graph dwarf,16 -o dwarf.spoor -- "$FIXTURES/burn" 200 >/dev/null 2>&1
exits 0 "a recording of 16 bytes of each stack" "$SPOOR" report --children dwarf.spoor
is "$(grep -c '^# 0 % of [0-9]* copied stacks are whole; .* % end at the copied 16 bytes (' out) $(grep -c copied err)" "1 0" "is told, once"
exits 0 "its folded stacks" "$SPOOR" export -f folded dwarf.spoor
is "$(grep -c copied out) $(grep -c copied err)" "0 1" "too"
exits 0 "perf unwinds its own" "$SPOOR" export -f perf-data -o /dev/null dwarf.spoor
is "$(grep -c copied err)" 0 "and so nothing is said"
is "$("$SPOOR" report one.spoor | grep -c copied)" 0 "nor of other recordings"

# --- losses

# No sample of this size finds room in such a ring.
"$SPOOR" record -e cpu-clock:u --call-graph dwarf,16384 -m 2 -o lost.spoor -- "$FIXTURES/burn" 200 >/dev/null 2>&1
lost=$("$SPOOR" info --json lost.spoor | jq .lost)
isnt "$lost" 0 "samples are lost"
"$SPOOR" report lost.spoor >out 2>err
is "$(grep -c "dropped by the kernel: sample ring full" out) $(grep -c . err)" "1 0" "a report tells it once"
is "$("$SPOOR" export -f folded lost.spoor 2>&1 | grep -c ' lost (\|: loss: ')" 1 "so does an export"

# --- the examples of README, each as it stands there, but shorter

if can_record_all; then
	mkdir readme
	ln -s "$BUILD" readme/build
	cat >prog.c <<-'END'
		#include <time.h>
		__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 10)
				work();
		}
	END
	"${CC:-gcc}" -O1 -o readme/prog prog.c || bail "prog.c does not compile"
	background "$FIXTURES/burn" 60000 >burn.log
	wait_for 10 test -s burn.log
	export FIXTURES spoorctl TMP pid
	pid=$(cat burn.log)
	cat >example.sh <<-'END'
		sudo() { "$@"; }
		spoor() { "$SPOOR" "$@"; }
		spoorctl() { "$spoorctl" --socket "$TMP/nobody" "$@"; }
		pgrep() { [ "$*" = "-d, postgres" ] && echo "$pid,$$"; }
		less() { cat; }
		chown() { [ "$1" = "$USER" ]; }
		USER=me
		set -o pipefail
		cd readme
		[ ! -e pg.spoor ] || { cp pg.spoor before.spoor; cp pg.spoor after.spoor; }
		[ -e perf.data ] || [ ! -e pg.spoor ] || spoor export -f perf-data -o perf.data pg.spoor
		eval "$1"
	END
	export SPOOR
	awk '/^```/ { code = !code; next } code' "$TOP/README.md" | grep -E '^(sudo )?(build/)?spoor(ctl)? ' |
		sed -E 's/ +# .*//; s/--duration [0-9]+[sm]/--duration 300ms/' >examples
	in_range "$(wc -l <examples)" 15 40 "README has examples"
	while IFS= read -r line; do
		# Who listens, runs nginx, or has no perf, shall not matter.
		case $line in
		*nginx.service* | spoorctl* | *--since*) allowed="0 1" ;;
		*'| perf'*) command -v perf >/dev/null && allowed=0 || allowed="0 127" ;;
		*) allowed=0 ;;
		esac
		bash example.sh "$line" >out 2>err </dev/null
		like " $allowed " " $? " "$line" || diag_file err
	done <examples
	is "$("$SPOOR" report --json readme/pg.spoor | jq '.samples > 10')" true "all processes of a name have samples"
else
	skip "not allowed to record every CPU" 20
fi

# --- warnings on a terminal of 80 columns

widest()
{
	awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' "$1"
}
terminal() # COMMAND: what it prints on a terminal
{
	script -qec "stty cols 80 rows 24; $1" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	dir='a directory that is called by so many words that no line has room for it'
	mkdir "$dir"
	head -c 2000 one.spoor >"$dir/cut.spoor"
	terminal "'$SPOOR' report --since '$dir' '$dir/cut.spoor'; '$SPOOR' export -f folded '$dir/cut.spoor' >/dev/null
		'$SPOOR' record -F 99999999 -e page-faults -o x.spoor -- true" >screen.txt
	in_range "$(widest screen.txt)" 60 80 "no line is wider"
	like "$(tr -s ' \n' ' ' <screen.txt)" "$dir: no time, such as .* \(spoor report --help says how\)" "wrong usage is whole"
	like "$(tr -s ' \n' ' ' <screen.txt)" "spoor: $dir/cut.spoor: not closed in order: its end is missing" "so are warnings"
	like "$(tr -s ' \n' ' ' <screen.txt)" 'record: frequency lowered .* kernel.perf_event_max_sample_rate' "and notes"
	"$SPOOR" report --since "$dir" one.spoor 2>err
	is "$(wc -l <err)" 1 "elsewhere each is one line"
else
	skip "no script(1)" 5
fi

# --- a kernel without symbols is not one that hides them

printf '0000000000000000 T %s\n' _text _etext >zeros
echo 'of another form' >none
noted() # FILE: in place of /proc/kallsyms
{
	unshare -m sh -c 'mount --bind "$1" /proc/kallsyms && "$2" record -e page-faults -o symbols.spoor -- true' - "$1" "$SPOOR" >out 2>err &&
		"$SPOOR" info -i symbols.spoor | sed -n 's/^notes  *//p'
}
if unshare -m sh -c "mount --bind '$TMP/zeros' /proc/kallsyms" 2>/dev/null; then
	like "$(noted zeros)" '^kernel symbols are hidden \(kernel.kptr_restrict' "symbols that are hidden"
	like "$(noted none)" '^this kernel has no symbols in /proc/kallsyms \(CONFIG_KALLSYMS\)' "a kernel that has none"
	like "$(noted /dev/null)" '^/proc/kallsyms cannot be read: kernel addresses have no names' "a file that cannot be read"
else
	skip "nothing can be mounted over /proc/kallsyms" 3
fi

done_testing
