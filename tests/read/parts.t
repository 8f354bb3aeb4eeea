#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A window of an archive as one file: what spoor pack refuses to make of it.
. "$(dirname "$0")/../lib.sh"
need_command jq

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

done_testing
