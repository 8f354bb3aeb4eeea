#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A day of 64 CPUs at 19 Hz (105 million samples), and ten days of it: what a window of a minute
# costs does not grow with the archive. Times are printed; memory and what is read are asserted.
. "$(dirname "$0")/../lib.sh"

maker=$BUILD/tests/bench/archive_maker
[ -x "$maker" ] || bail "$maker is not built"
end=1795230000
need_gb=${ARCHIVE_GB:-24}
free_gb=$(df --output=avail -BG "$TMP" | tail -1 | tr -dc 0-9)
[ "$free_gb" -ge "$need_gb" ] || bail "$need_gb GB are needed in $TMP, there are $free_gb"

# cost ARCHIVE ARGUMENTS...: samples of a report; what it took, in words, in $TMP/cost
cost()
{
	/usr/bin/time -f '%U %S %e %M' -o "$TMP/time" "$SPOOR" report --json -i "$@" 2>/dev/null |
		jq .samples
	awk '{ printf "%.2f s of CPU, %.2f s, %d KB\n", $1 + $2, $3, $4 }' "$TMP/time" >"$TMP/cost"
}

rss() # of the last cost
{
	awk '{ print $4 }' "$TMP/time"
}

mkdir day ten
ok "a day" "$maker" -n -e $end day 86400
ok "ten days" "$maker" -n -e $end ten 864000
for archive in day ten; do
	for at in 60 1800 3600 43200 86340; do
		cost $archive --since @$((end - at)) --until @$((end - at + 60)) >n
		is "$(cat n)" $((64 * 19 * 60)) "$archive: a minute, $at s ago"
		diag "$archive, $at s ago: $(cat cost)"
		rss >"$archive.$at.kb"
	done
	diag "$archive: $(find $archive -name '*.spoor*' | wc -l) segments, $(du -sm $archive | cut -f1) MB"
done
for at in 60 1800 3600 43200 86340; do
	day_kb=$(cat day.$at.kb)
	ten_kb=$(cat ten.$at.kb)
	ok "$at s ago: memory is the same within 10 %" [ $((ten_kb * 10)) -le $((day_kb * 11)) ]
done
done_testing
