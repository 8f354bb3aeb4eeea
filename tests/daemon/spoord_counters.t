#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# counters in spoord.conf: what spoor counters tells of the archive, over its segments, a reload and a restart. Each
# call of a program of known calls is counted once, whatever else the machine does.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq perf readelf
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "probes need root"
[ -d /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no PMU uprobe"

archive=$TMP/archive
mkdir -m 750 "$archive"
cp "$FIXTURES/probed" "$FIXTURES/static_probed" "$FIXTURES/faults" .
# Only spoor record looks for symbols.
calls=uprobe:$TMP/probed:$("$SPOOR" record --dry-run --json -e "uprobe:$TMP/probed:probed_work" -- true | jq -r '.[0].attr.bp_len')
# The places of a static probe, and of its semaphore, in the file.
static=usdt:$TMP/static_probed:lab:guarded
in_file() # ADDRESS
{
	readelf -lW static_probed | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r offset start size; do
		[ $(($1)) -lt $((start)) ] || [ $(($1)) -ge $((start + size)) ] || printf '0x%x' $(($1 - start + offset))
	done
}
places=$(readelf -nW static_probed | awk '$1 == "Name:" { name = $2 } $1 == "Location:" && name == "guarded" { gsub(",", ""); print $2, $6 }' |
	while read -r location semaphore; do echo "$(in_file "$location")($(in_file "$semaphore"))"; done | paste -sd+)
configure() # LINE...: besides what all have; $events may be others
{
	cat >spoord.conf <<-END
		archive_directory = $archive
		control_socket = $socket
		events = ${events:-cpu-clock}
		max_use = 64M
		keep_free = 0
		cpu_budget = 0
		memory_budget = 0
	END
	printf '%s\n' "$@" >>spoord.conf
}
begin() # it records
{
	start
	wait_for 20 samples_over 0 || bail "spoord does not come up: $(tail -3 log)"
}
total() # EVENT [FILE...]: by all intervals
{
	local event=$1
	shift
	"$SPOOR" counters --json "${@:-$archive}" 2>/dev/null | jq -s --arg e "$event" '[.[].counts[] | select(.event == $e) | .count] | add // 0'
}
files() # of the archive
{
	find "$archive" -maxdepth 1 -name '*.spoor*' | wc -l
}
# --- segments -------------------------------------------------------------------------------------

configure "counters = $calls, $static=$places, { page-faults, context-switches }" "counter_interval = 1s"
is "$("$spoord" -n -c spoord.conf | sed -n 's/^counter_interval = //p')" 1s "the keys are known"
cat >load.sh <<-'END'
	for n in 1000 200 30; do
		./probed $n
		./static_probed $n
		./faults 20000
		sleep 0.6
		"$BUILD/spoorctl" --socket "$socket" rotate
	done
	./probed 4
	"$BUILD/spoorctl" --socket "$socket" sync
END
export socket
begin
perf stat -a -x, -e page-faults,context-switches -o stat.csv -- bash load.sh
is "$?" 0 "a load, with perf stat around it"
stop
is $? 0 "the daemon stops in order"
is "$(files)" 4 "four segments"
is "$(total "$calls")" 1234 "have all calls together, each once"
is "$(total "$static")" 2460 "and all hits of a static probe, at both of its places"
of_perf() # EVENT
{
	awk -F, -v e="$1" '$3 == e { print $1 }' stat.csv
}
# What samples are taken of goes on counting as well: what a segment says of itself is its own.
segments=("$archive"/*.spoor*)
last_of() # FILE...: the clock's counts, as the kernel last told them, of each id
{
	for file; do "$SPOOR" dump --json "$file" 2>/dev/null; done | jq -s '[.[] | select(.type == "READ" and .event == "cpu-clock") |
		.fields.read.values[]] | group_by(.id) | map(map(.value) | max) | add'
}
clock_of() # FILE
{
	"$SPOOR" info --json "$1" 2>/dev/null | jq '.events[] | select(.name == "cpu-clock") | .count'
}
sum=0
for file in "${segments[@]}"; do
	sum=$((sum + $(clock_of "$file")))
done
is "$sum" "$(last_of "${segments[@]}")" "what each segment counted for samples is together what the kernel counted"
in_range "$(clock_of "${segments[3]}")" 1 $((sum - $(clock_of "${segments[0]}"))) "the last one has its own part"
# What the daemon does before and after, and others, is in the archive alone.
in_range "$(total page-faults)" 60000 1e9 "page faults, at least those of the program"
in_range "$(($(total page-faults) - $(of_perf page-faults)))" 0 1e12 "and all that perf stat saw"
in_range "$(($(total context-switches) - $(of_perf context-switches)))" 0 1e12 "as of context switches"
"$SPOOR" counters --json "$archive" 2>/dev/null >rows
is "$(jq -s 'all(range(1; length) as $i | [.[$i - 1], .[$i]]; .[0].until_ns <= .[1].from_ns)' rows)" true \
	"no interval begins before the one before has ended"
is "$(jq -s '[range(1; length) as $i | .[$i].from_ns - .[$i - 1].until_ns] | max' rows)" 0 "nor later, from one segment to the next"
in_range "$(jq -s '[.[] | (.until_ns - .from_ns) / 1e9] | max' rows)" 0.1 10 "and none is much longer than it was to be"
wall=$(date +%s)
is "$(jq -s --argjson now "$wall" '[.[] | .realtime_ns / 1e9 | . > $now - 300 and . <= $now + 1] | all' rows)" true \
	"each tells the time of day at which it ended"
since=$(jq -s '.[0].realtime_ns / 1e9 + 0.01' rows)
is "$("$SPOOR" counters --json --since "@$since" "$archive" 2>/dev/null | jq -s length)" "$(($(wc -l <rows) - 1))" \
	"by which others are chosen"
kept=$(find "$archive" -maxdepth 1 -name '*.spoor' | sort | sed -n 2p)
is "$(total "$calls" "$kept")" 200 "a segment for itself has its own"
is "$("$SPOOR" info --json "$kept" | jq --arg e "$calls" '[.events[] | select(.name == $e) | .count] | add')" 200 "as info tells"
is "$("$SPOOR" info --json "$kept" | jq --arg e "$calls" '[.events[] | select(.name == $e) | .samples] | add')" 0 \
	"and no samples of it"

# --- a restart ---------------------------------------------------------------------------------------

./probed 777 # of no segment
begin
./probed 5000
stop
is "$(total "$calls")" 6234 "after a restart: all calls while it ran, and none while it did not"
"$SPOOR" counters --json "$archive" 2>/dev/null >rows
in_range "$(jq -s '[range(1; length) as $i | .[$i].from_ns - .[$i - 1].until_ns] | max / 1e9' rows)" 0.001 60 \
	"no interval spans the time between"

# --- a reload ----------------------------------------------------------------------------------------

begin
./probed 60000
configure "counters = $calls, page-faults" "counter_interval = 1s" "call_graph = none"
# While one session follows the other, calls without an end.
: >stop.calls
background sh -c 'n=0; while [ -e stop.calls ]; do ./probed 100 || exit 1; n=$((n + 100)); echo $n >calls.new; mv calls.new calls; done'
caller=$!
wait_for 10 test -s calls
before=$(files)
exits 0 "reload, which needs another session" ctl reload
wait_for 20 sh -c "[ \$(find '$archive' -maxdepth 1 -name '*.spoor' | wc -l) -ge $before ]" || fail "the segment before is ended"
sleep 0.5
rm stop.calls
wait $caller
made=$(cat calls)
./probed 100000
stop
counted=$(($(total "$calls") - 6234 - 160000))
in_range "$counted" $((made / 2)) "$made" "over a reload no call is counted twice: $counted of $made"
diag "over a reload, $((made - counted)) of $made calls are in no interval"
"$SPOOR" counters --json "$archive" 2>/dev/null >rows
is "$(jq -s 'all(range(1; length) as $i | [.[$i - 1], .[$i]]; .[0].until_ns <= .[1].from_ns)' rows)" true \
	"no interval begins before the one before has ended"
mapfile -t both < <(find "$archive" -maxdepth 1 -name '*.spoor' | sort | tail -2)
gap=$(for file in "${both[@]}"; do "$SPOOR" dump --json "$file" 2>/dev/null | jq -sc '[.[] | select(.type == "READ" and (.event // "") != "cpu-clock") | .time] | [min, max]'; done |
	jq -s '(.[1][0] - .[0][1]) / 1e9')
in_range "$gap" 0 0.5 "and the other session's first reading is right after the last one of the one before: $gap s"

# --- what is wrong -----------------------------------------------------------------------------------

begin
configure "counters = page-faults, nonsense"
exits 1 "an event that is none, at a reload" ctl reload
like "$(cat err)" "counters: page-faults, nonsense: at character 14: unknown event 'nonsense'" "is told with its place"
./probed 1
stop
is "$(($(total "$calls") - 6234 - 160000 - counted))" 1 "and the counters stay what they were"
for bad in 0 25h often; do
	configure "counter_interval = $bad"
	exits 1 "counter_interval = $bad" "$spoord" -n -c spoord.conf
	like "$(cat err)" 'counter_interval = .*: must be' "is refused"
done
events="{cpu-clock" configure "counters = page-faults, nonsense" "frequency = 0"
line() # KEY: its line of the configuration
{
	grep -n "^$1 =" spoord.conf | cut -d: -f1
}
exits 1 "spoord -n with three errors" "$spoord" -n -c spoord.conf
like "$(cat err)" "spoord.conf:$(line events): events: .cpu-clock: at character 1[01]?: " "an event, with its line and character"
like "$(cat err)" "spoord.conf:$(line counters): counters: page-faults, nonsense: at character 14: unknown event 'nonsense'" "a counter"
like "$(cat err)" "spoord.conf:$(line frequency): frequency = 0: must be" "and a number, all at once"
exits 78 "which a start refuses likewise" timeout 20 "$spoord" -c spoord.conf --foreground
like "$(cat err)" "spoord.conf:$(line events): events: .cpu-clock: at character 1[01]?: " "with line and character"
configure "counters = mem:0x1001/4:w"
exits 1 "spoord -n of what the kernel refuses" "$spoord" -n -c spoord.conf
like "$(cat err)" "spoord.conf:$(line counters): counters: perf_event_open: EINVAL: mem:0x1001/4:w.*: .*no multiple of the length" \
	"tells why"
events=cpu-clock,cs configure "counters = auto"
exits 0 "spoord -n of what it takes" "$spoord" -n -c spoord.conf
configure "counters = off-cpu"
exits 1 "spoord -n of off-cpu as a counter" "$spoord" -n -c spoord.conf
timeout 20 "$spoord" -c spoord.conf --foreground >out 2>err
isnt "$?" 124 "off-cpu has no count"
like "$(cat err)" 'off-cpu has samples, and no count' "is told"
rm -rf "${archive:?}"/*
configure "counters = auto" "counter_interval = 1s"
begin
sleep 1.2
stop
like "$("$SPOOR" counters --json "$archive" 2>/dev/null | jq -r '.counts[].event' | sort -u | xargs)" \
	'context-switches cpu-clock cpu-migrations .*page-faults' "auto: those of perf stat"

done_testing
