#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A window of an archive as one file: what spoor pack refuses to make of it, and files with parts that it never makes.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

whole=$TOP/tests/fuzz/seeds/fuzz_recording/closed.spoor
mkdir archive
for i in 1 2 3; do
	cp "$whole" archive/$i.spoor
done
samples() { "$SPOOR" report --json "$1" 2>/dev/null | jq -s '.[0].samples // 0'; }
all=$(samples archive)
in_range "$all" 3 1000000 "an archive has samples"

# --- what is told is told once -------------------------------------------------------------------

head -c 100 "$whole" >archive/bad.spoor
exits 0 "an archive of which one recording is damaged" "$SPOOR" pack archive -o w.spoor
is "$(grep -c 'bad\.spoor' err)" 1 "is told of it once"
like "$(cat err)" 'spoor pack: 3 recordings' "has the others"
is "$(samples w.spoor)" "$all" "with their samples"
exits 0 "a map of it" "$SPOOR" heatmap archive
is "$(grep -c 'bad\.spoor' err)" 1 "tells of it once"
rm archive/bad.spoor

# --- what is not ours to leave out ---------------------------------------------------------------

mkdir many
for i in $(seq 1 40); do
	cp "$whole" many/"$i".spoor
done
exits 1 "more recordings than there may be open files" bash -c "ulimit -n 24; exec \"$SPOOR\" pack many -o many.spoor"
like "$(cat err)" 'Too many open files' "is why"
nok "no file lacks some of them" test -e many.spoor
cp "$whole" archive/4.spoor.active
exits 1 "no room for a copy of what is being written" \
	bash -c "trap '' XFSZ; ulimit -f 1; exec \"$SPOOR\" pack archive -o w.spoor"
like "$(cat err)" 'temporary file.*TMPDIR.*File too large' "names the file that lacks it"
rm archive/4.spoor.active
ln -s archive/2.spoor second
cp archive/2.spoor was
exits 1 "into one of its recordings" "$SPOOR" pack archive -o archive/2.spoor
like "$(cat err)" 'archive/2\.spoor: is one of the recordings' "is refused"
exits 1 "by another name" "$SPOOR" pack archive -o second
same "it is as it was" was archive/2.spoor
rm second
exits 1 "a window of later times" "$SPOOR" pack archive --since 2030-01-01 -o late.spoor
like "$(cat err)" 'no sample is since 2030-01-01' "has nothing"
nok "and makes no file" test -e late.spoor

# --- files with parts ----------------------------------------------------------------------------

forge() { python3 "$TOP/tests/oracles/forge.py" parts "$@"; }
none=18446744073709551615
forge good.spoor 0 $none archive/1.spoor archive/2.spoor
exits 0 "two recordings" "$SPOOR" verify good.spoor
is "$(samples good.spoor)" $((all * 2 / 3)) "are read"
forge long.spoor 0 $none archive/1.spoor archive/2.spoor=100000
exits 3 "a file without its last bytes" "$SPOOR" verify long.spoor
like "$(cat err)" 'is cut: [0-9]+ bytes are missing' "is damaged"
like "$(cat out)" '^long\.spoor: damaged but readable' "itself, whatever its recordings are"
cp good.spoor longer.spoor
cat "$whole" >>longer.spoor
exits 3 "a file with more behind the last recording" "$SPOOR" verify longer.spoor
like "$(cat err)" "longer\.spoor: $(stat -c %s "$whole") bytes are behind its last recording" "is damaged"
exits 0 "which is told of" "$SPOOR" report longer.spoor
like "$(cat err)" 'are behind its last recording' "whatever reads it"
for window in "5 5" "$none $none" "9 3"; do
	# shellcheck disable=SC2086 # two words
	forge odd.spoor $window archive/1.spoor
	"$SPOOR" verify odd.spoor >out 2>err
	isnt "$?" 0 "from ${window/ / to }: no window"
	unlike "$(cat err)" '--until' "of which no option is told"
done
done_testing
