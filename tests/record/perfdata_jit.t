#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Names of code made at run time in a perf.data, which has none and no boot's id: from the files of this host, if host
# name and clocks tell that it was made here since it was booted.
. "$(dirname "$0")/../lib.sh"
need_command perf jq unshare
[ "$(id -u)" -eq 0 ] || skip_all "another host name needs root"

record() # MODE FILE [OPTION...]: leaves $pid, and what follows it in "steps"
{
	local mode=$1 file=$2
	shift 2
	perf_record -q "$@" -e cpu-clock:u -F 997 -o "$file" -- "$FIXTURES/jit" "$mode" >steps 2>err || diag_file err
	pid=$(head -n 1 steps)
	at_exit "rm -f /tmp/perf-$pid.map"
}

share() # FILE SYMBOL [OPTION...]: of its samples, in per mille
{
	local file=$1 symbol=$2
	shift 2
	"$SPOOR" report --json -i "$file" "$@" 2>said |
		jq --arg s "$symbol" '([.rows[] | select(.symbol == $s) | .samples] | add // 0) * 1000 / ([.rows[].samples] | add) |
			floor'
}

doubt='does not tell whether it was made since this host was booted'
for clock in mono raw boot own; do
	options=(-k "$clock")
	[ "$clock" != own ] || options=()
	record map "$clock.data" "${options[@]}"
	in_range "$(share "$clock.data" 'alpha()')" 570 690 "$clock: alpha by the perf map"
	unlike "$(tr -d '\n#' <said | tr -s ' ')" "$doubt" "$clock: without doubt"
	in_range "$(unshare -u bash -c 'hostname other-host; "$@"' - "$SPOOR" report --json -i "$clock.data" 2>/dev/null |
		grep -c 'alpha')" 0 0 "$clock: not on another host"
done
# Of the last one nothing but the file's age tells which boot it is of.
touch -d '+10 minutes' own.data
in_range "$(share own.data 'alpha()')" 570 690 "a copy of later is named"
like "$(tr -d '\n#' <said | tr -s ' ')" "$doubt" "and that is said"
touch -d "@$(($(sed -n 's/^btime //p' /proc/stat) - 3600))" own.data
in_range "$(share own.data 'alpha()')" 0 0 "one of before this boot is not"
# An instant of another boot: CLOCK_DATA is version, clock, wall, clock; an hour is between them.
python3 - <<'END'
import struct
data = bytearray(open("mono.data", "rb").read())
at = struct.unpack_from("<QQ", data, 40)
section = at[0] + at[1]
bits = int.from_bytes(data[72:104], "little")
number = bin(bits & ((1 << 29) - 1)).count("1")
assert bits >> 29 & 1
offset, size = struct.unpack_from("<QQ", data, section + 16 * number)
version, clock, wall, now = struct.unpack_from("<IIQQ", data, offset)
assert clock == 1
struct.pack_into("<Q", data, offset + 16, now + 3600 * 10**9)
open("later.data", "wb").write(data)
END
in_range "$(share later.data 'alpha()')" 0 0 "one of another boot is not"

record dump dump.data -k mono
in_range "$(share dump.data 'alpha()')" 570 690 "alpha by the jitdump, at both its places"
mapfile -t times < <(sed -n '2,$s/ /,/p' steps)
in_range "$(share dump.data 'beta <T>' --time "${times[1]}")" 900 1000 "beta at the same address, in its time"
record fork-map fork.data
in_range "$(share fork.data 'alpha()')" 570 690 "a child that executed no program has its parent's names"
exits 0 "an import" "$SPOOR" import -o import.spoor mono.data
in_range "$(share import.spoor 'alpha()')" 570 690 "and so has what was imported"

done_testing
