#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# 2,000 short processes that fork, exec, load and unload libraries, rename themselves, start threads
# and exit while everything is recorded: each user-mode sample belongs to the right name, object and
# function. The processes themselves say what is right (tests/fixtures/storm.c).
. "$(dirname "$0")/../lib.sh"
need_command python3 jq
need_record_all

count=2000
# One inode by several names, a copy, another build, a link, a name that is cut.
prepare()
{
	mkdir bin lib && cp "$FIXTURES"/libstorm_*.so lib/ && cp "$FIXTURES"/storm{,_other} bin/ &&
		ln bin/storm bin/storm-red && ln bin/storm bin/storm-green && cp bin/storm bin/storm-copy &&
		ln -s storm-copy bin/storm-link && ln bin/storm bin/storm-of-a-very-long-name
}
prepare || bail "the programs could not be laid out"
programs=()
for p in storm-red storm-green storm-copy storm-link storm-of-a-very-long-name storm_other; do
	programs+=("$TMP/bin/$p")
done

# The rings have room for what comes in the seconds that a busy machine may keep the recorder waiting.
exits 0 "$count processes are recorded" "$SPOOR" record -a -F 4999 -m 4096 --call-graph none -o storm.spoor -- \
	"$TMP/bin/storm" $count "$TMP/log" "$TMP/lib" "${programs[@]}" || diag_file err
is "$(grep -c '^P ' log)" $count "all of them have told their story"
exits 0 "a dump" "$SPOOR" dump --json storm.spoor
mv out dump
exits 0 "a report" "$SPOOR" report --json --sort pid,tid,comm,dso,sym storm.spoor
mv out report
is "$(jq .lost report)" 0 "no sample is lost"
is "$("$SPOOR" info --json storm.spoor | jq .loss.kernel_sideband)" 0 "nor a record of what the processes did"
python3 "$TOP/tests/oracles/storm_check.py" log dump report >check || fail "the check runs" "$(tail -n 5 check)"
tail -n 1 check >totals
diag "$(cat totals)"
unmapped=$(grep '^not in a map' check)
is "$(jq .wrong totals)" 0 "every sample has the right name, object and function" ||
	diag "$(head -n 30 check)"
jq '.rows |= map(if .dso == "libstorm_a.so" then .comm = "storm-red" else . end)' report >tampered
python3 "$TOP/tests/oracles/storm_check.py" log dump tampered >check
in_range "$(tail -n 1 check | jq .wrong)" 100 100000 "wrong names would have been seen"
jq '.rows |= map(if .symbol == "storm_burn_c" then .dso = "libstorm_a.so" else . end)' report >tampered
python3 "$TOP/tests/oracles/storm_check.py" log dump tampered >check
in_range "$(tail -n 1 check | jq .wrong)" 100 100000 "and wrong objects"
in_range "$(jq '.samples / .processes' totals)" 1 1000 "each process has samples"
in_range "$(jq '(.ambiguous // 0) / .samples' totals)" 0 0.05 "few are between two states"
is "$(jq '.unmapped // 0' totals)" 0 "all are in maps that the processes know" || diag "$unmapped"
in_range "$(jq '."in known functions" / .samples' totals)" 0.3 1 "many are in functions that are known"
in_range "$(jq .names totals)" 9 20 "there were many names"
in_range "$(jq .objects totals)" 9 20 "and many objects"

done_testing
