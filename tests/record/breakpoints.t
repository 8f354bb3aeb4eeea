#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mem:PATH:SYMBOL and mem:SYMBOL: breakpoints on what a program of known accesses writes and calls; where symbols
# are, by nm and /proc/kallsyms.
. "$(dirname "$0")/../lib.sh"
need_command jq nm strip perf "${CC:-cc}"
need_record_all

program=$FIXTURES/watched
[ "$("$SPOOR" record --dry-run -e mem:0x1000:w -- true 2>&1 | grep -c 'type: 5')" -eq 1 ] || skip_all "no breakpoints on this machine"
counts() # FILE: NAME SAMPLES of each event, without the path
{
	"$SPOOR" info --json -i "$1" | jq -r '.events[] | select(.name != "dummy:u") | "\(.name) \(.samples)"' | sed 's,:/[^:]*/,:,'
}
address() # PROGRAM SYMBOL [OFFSET]
{
	printf '0x%x' $((0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }') + ${3:-0}))
}
opened() # EVENT [OPTION...]: address, length and access in the attr
{
	"$SPOOR" record --dry-run --json -e "$@" -- true | jq -r '.[0].attr | [.bp_addr // .config1, .bp_len // .config2, .bp_type] | map(tostring) | join(" ")'
}

breakpoints_hit && delivered=y || delivered=
hit() # GOT WANTED NAME: is, where breakpoints are delivered
{
	if [ "$delivered" ]; then
		is "$@"
	else
		skip "this machine opens breakpoints and delivers none: perf stat counts none either"
	fi
}

# --- a program that is always at its addresses

# The kernel writes there as well, once, when it clears the page's rest: :u is without that.
exits 0 "variables and a function" "$SPOOR" record -m 8M -o fixed.spoor -e "mem:$program:watched_sum:w:u,mem:$program:watched_pairs+4/4:w:u" \
	-e "mem:$program:watched_never/8:w:u" -e "mem:$program:watched_step:x:u" -- "$program" 5000
hit "$(counts fixed.spoor | sort | xargs)" \
	"mem:watched:watched_never/8:w:u 0 mem:watched:watched_pairs+4/4:w:u 2500 mem:watched:watched_step:x:u 5000 mem:watched:watched_sum:w:u 5000" \
	"each access is a sample"
hit "$("$SPOOR" report --json -i fixed.spoor --event "mem:$program:watched_sum:w:u" | jq -r '.rows[] | "\(.symbol) \(.samples)"')" \
	"watched_step 5000" "in the function that writes"
is "$(opened "mem:$program:watched_sum")" "$(opened "mem:$(address "$program" watched_sum)")" "its address is nm's"
is "$(opened "mem:$program:watched_pairs+0x4/2:w")" "$(opened "mem:$(address "$program" watched_pairs 4)/2:w")" "and behind it"
is "$(opened "mem:$program:watched_step:x")" "$(opened "mem:$(address "$program" watched_step):x")" "so is that of a function"
at=$(opened "mem:$(address "$program" watched_sum):w")
is "$(opened "{ mem:$program:watched_sum:w, cs }")" "$at" "a blank before an event is no part of it"
is "$(opened "mem:$program:watched_sum:w , cs")" "$at" "nor is one behind it"
is "$(opened "mem:$program:watched_sum ,cs")" "$(opened "mem:$(address "$program" watched_sum)")" "nor is one behind a symbol"
is "$(opened "{mem:$program:watched_sum:w, cs/name='a},mem:nowhere'/}")" "$at" "what is quoted is no event"
mkdir a=b
cp "$program" a=b/
is "$(opened "mem:./a=b/watched:watched_sum:w")" "$at" "a path may have a ="
exits 0 "--counters" "$SPOOR" record -o counted.spoor --counters="mem:$program:watched_sum:w:u, mem:$program:watched_step:x:u" -- "$program" 700
hit "$("$SPOOR" counters --json counted.spoor | jq -s -r '[.[].counts[]] | group_by(.event)[] | "\(.[0].event) \(map(.count) | add)"' |
	sed 's,:/[^:]*/,:,' | xargs)" "mem:watched:watched_step:x:u 700 mem:watched:watched_sum:w:u 700" "each access is counted"
# Each CPU counts for itself.
exits 0 "own settings, in terms" "$SPOOR" record -m 8M -o terms.spoor -e "mem:$program:watched_sum:w/period=10,call-graph=no/u" \
	-e "mem:$program:watched_step:x/period=4/u" -- taskset -c 0 "$program" 5000
hit "$(counts terms.spoor | sort | xargs)" \
	"mem:watched:watched_step:x/period=4/u 1250 mem:watched:watched_sum:w/period=10,call-graph=no/u 500" "each has its period"
is "$(opened "mem:here=0x1000/8:w")" "$(opened mem:0x1000/8:w)" "an address may have a name"
cp "$program" ./stripped
objcopy --only-keep-debug stripped stripped.debug
objcopy --strip-all --add-gnu-debuglink=stripped.debug stripped
is "$(opened mem:./stripped:watched_sum:w)" "$(opened "mem:$(address "$program" watched_sum):w")" "of one that was stripped, by its debug file"

# --- one that is loaded anywhere: a process tells where

"${CC:-cc}" -g -O1 -fpie -pie -o pie "$TOP/tests/fixtures/watched.c"
mkfifo go ctl back
./pie 3000 wait <go &
pid=$!
exec 7>go
until grep -q pie "/proc/$pid/maps" 2>/dev/null; do sleep 0.05; done
"$SPOOR" record --dry-run --json -e mem:./pie:watched_sum:w -p $pid | jq -r '.[0].attr | .bp_addr // .config1' >opened
base=$(awk -v file="$PWD/pie" '$6 == file { print $1; exit }' "/proc/$pid/maps" | cut -d- -f1)
is "$(cat opened)" "$(address pie watched_sum $((0x$base)))" "-p: by what the process has mapped"
exits 2 "of a process that has not" "$SPOOR" record --dry-run -e mem:./pie:watched_sum:w -p $$
like "$(cat err)" 'at character 11: the process \(-p\) has not mapped this file' "is told"
# A recording that runs answers: then the program goes on.
exec 8<>ctl 9<>back
echo enable >&8
(read -t 60 -r _ <&9; echo >&7) &
exits 0 "-p" "$SPOOR" record -q -m 8M -o pie.spoor --control fifo:ctl,back -e mem:./pie:watched_sum:w,mem:./pie:watched_pairs+4:w -p $pid
wait $pid
exec 7>&- 8>&- 9>&-
hit "$(counts pie.spoor | xargs)" "mem:pie:watched_sum:w 3000 mem:pie:watched_pairs+4:w 1500" "each access of it is a sample"

# --- the kernel

symbol=$(awk '$3 == "__x64_sys_getppid" || $3 == "__arm64_sys_getppid" || $3 == "jiffies_64" { print $1 !~ /^0*$/ ? $3 : ""; exit }' /proc/kallsyms)
if [ "$symbol" ]; then
	is "$(opened "mem:$symbol/8:w:k")" "$(opened "mem:0x$(awk -v s="$symbol" '$3 == s { print $1 }' /proc/kallsyms)/8:w:k")" \
		"a symbol of the kernel is where /proc/kallsyms has it"
else
	skip "/proc/kallsyms shows nobody where these are" 1
fi
# Many kernels list no variables.
if grep -q '^0*[1-9a-f][0-9a-f]* D jiffies_64$' /proc/kallsyms; then
	exits 0 "mem:jiffies_64" "$SPOOR" record -a -o kernel.spoor -e "mem:jiffies_64/8:w" -- sleep 1
	like "$(counts kernel.spoor)" '^mem:jiffies_64/8:w [1-9][0-9]+$' "is written as time passes"
else
	diag "/proc/kallsyms has no variable here: only that its address is asked for is tested"
fi

# --- what is none

refused() # EVENT CHARACTER SAID
{
	exits 2 "$1" "$SPOOR" record -e "$1" -o x.spoor -- true
	like "$(cat err)" "at character $2: .*$3" "is told"
}
refused mem:./pie:watched_sum 11 "-p PID, of one"
refused "cs,mem:./stripped:nosuch" 19 "neither a function nor a variable"
refused "cs, mem:./stripped:nosuch , cs" 20 "neither a function nor a variable"
refused mem:./nofile:x 5 "No such file"
refused mem:./a=b/nofile:x 5 "No such file"
refused mem:./err:main 11 "neither a program"
refused "mem:./stripped" 5 "PATH:SYMBOL"
refused mem:./stripped:watched_sum+x 16 "not an offset"
refused mem:./stripped:watched_sum+99999999999999999999 16 "not an offset"
refused mem:./stripped:watched_sum+0xffffffffffffffff 16 "too large"
refused mem:no_such_symbol_anywhere:w 5 "kernel"
refused mem:./stripped:watched_sum/3 '[0-9]+' "1, 2, 4 or 8"
nok "no recording is left" test -e x.spoor
done_testing
