#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# What sysfs tells of an event's counts (NAME.scale, NAME.unit, NAME.snapshot, NAME.per-pkg): of a machine's power, memory
# and cache that this one has not, by a shim of the system call (tests/fixtures/libmachine.c) over a made sysfs.
. "$(dirname "$0")/../lib.sh"
need_command jq unshare perf
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "mounting a made sysfs needs root"

SCALE=2.3283064365386962890625e-10

event() # PMU NAME TERMS [FILE TEXT]...
{
	local at=devices/$1/events/$2
	echo "$3" >"$at"
	shift 3
	for (( ; $# >= 2; )); do
		printf '%s\n' "$2" >"$at.$1"
		shift 2
	done
}

for pmu in power:21 uncore_imc_0:22 uncore_imc_1:22 intel_cqm:23; do
	mkdir -p "devices/${pmu%:*}/format" "devices/${pmu%:*}/events"
	echo "${pmu#*:}" >"devices/${pmu%:*}/type"
	echo config:0-7 >"devices/${pmu%:*}/format/event"
done
for pmu in power uncore_imc_0 uncore_imc_1; do echo 0 >devices/$pmu/cpumask; done
event power energy-pkg event=0x02 scale $SCALE unit Joules
event power energy-bad event=0x03 scale -1 unit "$(printf 'J\033[31m,x')"
for i in 0 1; do event uncore_imc_$i data_reads event=0x01 scale 6.103515625e-5 unit MiB; done
event intel_cqm llc_occupancy event=0x01 scale 65536 unit Bytes snapshot 1 per-pkg 1
event intel_cqm total event=0x02 per-pkg 1
event intel_cqm each event=0x03

there() # COMMAND...: on that machine
{
	SPOOR_MACHINE=plain SPOOR_MACHINE_LOG=$TMP/opened LD_PRELOAD=$PRELOADS/libmachine.so unshare --mount sh -c '
		mount --bind devices /sys/bus/event_source/devices && exec "$@"' - "$@"
}

counts() # FILE EVENT FILTER: of each interval
{
	"$SPOOR" counters --json "$1" | jq -s -c --arg e "$2" "[.[].counts[] | select(.event == \$e) | $3]"
}

info_of() # FILE EVENT FILTER
{
	"$SPOOR" info --json "$1" | jq -c --arg e "$2" ".events[] | select(.name == \$e) | $3"
}

EVENTS=power/energy-pkg/,power/energy-bad/,uncore_imc/data_reads/,intel_cqm/llc_occupancy/,intel_cqm/total/,intel_cqm/each/
exits 0 "counters of that machine" there "$SPOOR" record -a -e cpu-clock --counters=$EVENTS --counter-interval 50ms --duration 0.6s -o x.spoor

# --- a scale and a unit -----------------------------------------------------------------------

is "$(info_of x.spoor power/energy-pkg/ '[.unit, .scale]')" "[\"Joules\",2.3283064365386963e-10]" "the recording has the unit and the scale"
is "$(info_of x.spoor power/energy-pkg/ '.value == .count_scaled * .scale and .count > 0')" true "info tells the count, and the value in it"
is "$(counts x.spoor power/energy-pkg/ '[.unit, .value == .count_scaled * .scale, .count > 0]' | jq -c unique)" \
	'[["Joules",true,true]]' "so does each interval"
is "$(counts x.spoor power/energy-pkg/ '.ratios[].unit' | jq -c unique)" '["Joules a second"]' "the rate is in the unit, too"
is "$("$SPOOR" counters --json x.spoor | jq -s '[.[] | (.until_ns - .from_ns) as $ns | .counts[] | select(.event == "power/energy-pkg/") |
	.ratios[0].value * $ns / 1e9 / .value | . > 0.999999 and . < 1.000001] | all and length > 0')" true "and is that of the interval"
for i in 0 1; do
	is "$(info_of x.spoor uncore_imc_$i/data_reads/ '[.unit, .scale]')" '["MiB",6.103515625e-05]' "each PMU of a name has its own (imc_$i)"
done
is "$(info_of x.spoor power/energy-bad/ '[.unit, .scale, .count > 0, .value == .count_scaled]')" '["J\u001b[31m,x",null,true,true]' \
	"a scale that is none is 1"
is "$(info_of x.spoor cpu-clock '[.unit, .scale, .value]')" '[null,null,null]' "of another event nothing is told"

# As perf stat prints them: value, unit.
"$SPOOR" counters -x, x.spoor >rows.csv
want=$(counts x.spoor power/energy-pkg/ .value | jq -r '.[]' | awk '{ printf "%.2f\n", $1 }')
is "$(awk -F, '$4 == "power/energy-pkg/" { print $2 }' rows.csv)" "$want" "-x: values in the unit"
is "$(awk -F, '$4 == "power/energy-pkg/" { print $3 "," $8 }' rows.csv | sort -u)" "Joules,Joules a second" "beside it the unit"
like "$(cat rows.csv)" '"J\\033\[31m,x",power/energy-bad/' "a unit with a separator is in quotes, and escaped"
"$SPOOR" counters x.spoor >lines
like "$(cat lines)" 'total +[0-9]+\.[0-9]{2} Joules +power/energy-pkg/ +# [0-9.]+( [KMGT])? Joules a second' "lines for people, too"
nok "nothing of a unit reaches the terminal as it is" grep -q "$(printf '\033')" lines
"$SPOOR" info x.spoor >lines
like "$(cat lines)" "counted [0-9]+: [0-9]+\.[0-9]{2} Joules" "and info"
nok "in which a unit is escaped" grep -q "$(printf '\033')" lines

# --- levels, and packages ------------------------------------------------------------------------

is "$(counts x.spoor intel_cqm/llc_occupancy/ '[.count, .count_scaled, .value, .unit, .snapshot, .per_pkg]' |
	jq '. - [[3,3,196608,"Bytes",true,true],[7,7,458752,"Bytes",true,true]] == [] and length > 0')" true \
	"a level is what was read, and no difference"
is "$(counts x.spoor intel_cqm/llc_occupancy/ '.ratios | length' | jq -c unique)" '[0]' "and has no rate"
is "$("$SPOOR" counters x.spoor 2>&1 >/dev/null | grep -c 'less than at the reading before')" 0 "a lower level is no count that went backwards"
last=$(counts x.spoor intel_cqm/llc_occupancy/ .count | jq '.[-1]')
is "$(info_of x.spoor intel_cqm/llc_occupancy/ .count)" "$last" "info tells the last one"
like "$(cat lines)" "was at the end $last: $((last * 65536)) Bytes" "in words"
like "$("$SPOOR" counters x.spoor)" "total +$((last * 65536)) Bytes +intel_cqm/llc_occupancy/" "so does the total"
is "$("$SPOOR" counters --json --interval 1h x.spoor | jq '.counts[] | select(.event == "intel_cqm/llc_occupancy/") | .count')" "$last" \
	"as does an interval of several readings"

# The first CPU of each package and die.
first_ones()
{
	local cpu place
	declare -A seen
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		place=$(cat /sys/devices/system/cpu/cpu$cpu/topology/{physical_package_id,die_id} 2>/dev/null | xargs)
		[ "${seen[x$place]:-}" ] || echo $cpu
		seen[x$place]=1
	done
}
opened_on() # CONFIG
{
	awk -v c="$1" '$3 == 23 && $4 == c && $2 >= 0 && $7 == 0 { print $2 }' opened | sort -un | xargs
}
is "$(opened_on 0x3)" "$(seq 0 $(($(nproc) - 1)) | xargs)" "what is of each CPU is opened on each"
is "$(opened_on 0x2)" "$(first_ones | xargs)" "per-pkg is opened on one CPU of a package"
: >opened
exits 0 "of a process" there "$SPOOR" record -e cpu-clock --counters=intel_cqm/total/ -o y.spoor -- "$FIXTURES/burn" 50
is "$(opened_on 0x2 | wc -w)" "$(nproc)" "a process counts on each CPU that it runs on"
: >opened
exits 0 "-n" there "$SPOOR" record -n -a -e intel_cqm/total/,power/energy-pkg/ --counter-interval 50ms --duration 0.3s -o y.spoor
is "$(info_of y.spoor power/energy-pkg/ .unit)" '"Joules"' "-n: the events of -e are counted in their units"
is "$(opened_on 0x2)" "$(first_ones | xargs)" "-n: and once a package"

# --- files that come of it --------------------------------------------------------------------------

FACTS='[.name, .unit, .scale, .snapshot, .per_pkg, .count]'
facts() # FILE
{
	"$SPOOR" info --json "$1" | jq -c ".events[] | select(.unit) | $FACTS"
}
facts x.spoor >wanted
is "$(wc -l <wanted)" 5 "five events have a unit"
exits 0 "several files" there "$SPOOR" record -a -e cpu-clock --counters=power/energy-pkg/ --counter-interval 50ms --switch-output=1s \
	--duration 2500ms -o s.spoor
is "$(for file in s.spoor.*; do info_of "$file" power/energy-pkg/ .unit; done | sort | uniq -c | xargs)" \
	"$(find . -name 's.spoor.*' | wc -l) Joules" "each of which has the unit"
in_range "$(find . -name 's.spoor.*' | wc -l)" 2 4 "more than one"
exits 0 "pack" "$SPOOR" pack -o p.spoor x.spoor
facts p.spoor >got
same "a packed recording has all of it" wanted got

# perf.data has a place for scale and unit, and for no more of it.
jq -c '.[3] = null | .[4] = null | select(.[0] != "intel_cqm/llc_occupancy/")' wanted >wanted.perf
told() # what perf reads
{
	perf report -D -i "$1" 2>/dev/null | grep -A2 EVENT_UPDATE | grep -oE '(unit|scale): .*' | sort | uniq -c
}
for mode in file pipe; do
	if [ $mode = file ]; then
		exits 0 "$mode: a perf.data" "$SPOOR" export -f perf-data-file -o x.data x.spoor
	else
		"$SPOOR" export -f perf-data x.spoor >x.data || bail "no export"
	fi
	like "$(told x.data)" '1 unit: +Joules' "$mode: perf knows the unit"
	exits 0 "$mode: it comes back" "$SPOOR" import x.data -o i.spoor
	facts i.spoor | jq -c 'select(.[0] != "intel_cqm/llc_occupancy/")' >got
	same "$mode: with scales, units and counts" wanted.perf got
	exits 0 "$mode: and is exported once more" "$SPOOR" export -f perf-data-file -o y.data i.spoor
	is "$(told y.data)" "$(told x.data)" "$mode: each record once"
	rm -f x.data y.data i.spoor
done

# --- perf on that machine -----------------------------------------------------------------------------

there perf record -q -a -e power/energy-pkg/,page-faults -o x.data -- sleep 0.2
there perf record -q -a -e power/energy-pkg/,page-faults -o - -- sleep 0.2 >y.data
for file in x.data y.data; do
	exits 0 "$file: a recording of perf's" "$SPOOR" import $file -o i.spoor
	is "$(info_of i.spoor power/energy-pkg/ '[.unit, .scale]')" "[\"Joules\",2.3283064365386963e-10]" "$file: has unit and scale"
	is "$(info_of i.spoor page-faults '[.unit, .scale]')" "[null,null]" "$file: of its event alone"
	rm -f i.spoor
done
there perf stat -x, -a -e power/energy-pkg/ -o stat.csv -- sleep 0.2
of_perf=$(grep energy-pkg stat.csv | cut -d, -f2,3)
is "$(awk -F, '$4 == "power/energy-pkg/" { print $3 "," $4 }' rows.csv | sort -u)" "$of_perf" "unit and event are fields as of perf stat -x"
is "$(grep energy-pkg stat.csv | cut -d, -f1 | sed 's/[0-9]/9/g; s/9*\./9./')" "$(awk -F, '$4 == "power/energy-pkg/" { print $2 }' rows.csv |
	sed 's/[0-9]/9/g; s/9*\./9./' | sort -u)" "with as many decimals"
done_testing
