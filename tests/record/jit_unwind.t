#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Callers of code made at run time without frame pointers, by what its jitdump tells of its frames. perf inject makes ELF
# files of that.
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the code is of x86-64"

callers() # FILE: of the samples in the code those, in per mille, that main() and jit_caller() called
{
	"$SPOOR" export -f folded -i "$1" 2>err |
		awk '/made_without_frame_pointer/ { all += $NF } /main;jit_caller;made_without_frame_pointer/ { n += $NF }
			END { printf "%d\n", all ? n * 1000 / all : -1 }'
}

"$SPOOR" record -F 997 --call-graph dwarf -o r.spoor -- "$FIXTURES/jit_frames" >pid 2>err || diag_file err
in_range "$(callers r.spoor)" 950 1000 "callers of code without frame pointers"
dump=jit-$(cat pid).dump
# The same without the record of frames, which stands behind the header of 40 bytes.
python3 - "$dump" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
kind, total = struct.unpack_from("<II", data, 40)
assert kind == 4
with open(sys.argv[1], "r+b") as f:
    f.write(data[:40] + data[40 + total:])
    f.truncate()
END
in_range "$(callers r.spoor)" 0 100 "which nothing else knows"

if command -v perf >/dev/null; then
	perf_record -q -k mono -F 997 -e cpu-clock:u --call-graph dwarf -o p.data -- "$FIXTURES/jit_frames" >pid 2>err ||
		diag_file err
	in_range "$(callers p.data)" 950 1000 "of a perf.data"
	exits 0 "perf inject" perf inject -j -i p.data -o j.data
	in_range "$(callers j.data)" 950 1000 "as of what perf inject made"
else
	skip "no perf here" 3
fi
done_testing
