#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the golden corpus of this version: tests/golden/make.sh BUILD DIR, as root, where perf is
# installed and a tmpfs can be mounted. DIR must not be there yet. `make.sh --digests BUILD DIR` makes
# the digests of `spoor dump` again, and nothing else. See README.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C TZ=UTC

digest() # FILE
{
	"$spoor" dump "$1" 2>/dev/null | sha256sum | cut -d' ' -f1
}

if [ "$1" = --digests ]; then
	spoor=$(realpath "$2/spoor")
	for f in "$3"/*.spoor; do
		digest "$f" >"${f%.spoor}.dump.sha256"
	done
	exit
fi

build=$(realpath "$1")
dir=$2
spoor=$build/spoor
fixtures=$build/tests/fixtures
mkdir "$dir"
tmp=$(mktemp -d)
trap 'umount -l "$tmp/disk" 2>/dev/null; rm -rf "$tmp"' EXIT

record() # NAME OPTION...
{
	local name=$1
	shift
	"$spoor" record -o "$dir/$name.spoor" "$@" >/dev/null
}

record columns -e cpu-clock -e page-faults -F 499 -- "$fixtures/burn" 400
record dwarf --call-graph dwarf,512 -F 49 -- "$fixtures/burn" 400
record raw -e sched:sched_switch -c 1 -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
record everybody -a -F 199 --duration 0.5s
record lossy -m 1 -e page-faults -c 2 --call-graph none -- "$fixtures/faults" 6000

# Killed in the middle of its second block.
"$spoor" record -F 199 -o "$dir/killed.spoor" -- "$fixtures/burn" 20000 >/dev/null 2>&1 &
pid=$!
sleep 8
kill -KILL $pid
wait $pid 2>/dev/null || :

# A daemon whose disk fills up, and empties.
mkdir "$tmp/disk"
mount -t tmpfs -o size=4m golden "$tmp/disk"
mkdir -m 750 "$tmp/disk/archive"
printf '%s\n' "archive_directory = $tmp/disk/archive" "control_socket = $tmp/socket" \
	"control_group = root" "max_use = 4M" "keep_free = 1" "block_age = 1s" "frequency = 19" \
	"call_graph = none" "cpu_budget = 0" >"$tmp/conf"
"$build/spoord" -c "$tmp/conf" --foreground 2>/dev/null &
pid=$!
sleep 2
cat /dev/zero >"$tmp/disk/filler" 2>/dev/null || :
sleep 3
rm "$tmp/disk/filler"
sleep 2
kill -TERM $pid
wait $pid
cp "$tmp"/disk/archive/*.spoor "$dir/outage.spoor"

# A block of each type, by the writer itself.
cat >"$tmp/small.c" <<-'END'
	#include <stdio.h>
	#include "tests/lab/recording_maker.h"

	int
	main(void)
	{
		struct memory_file f = { 0 };

		maker_recording(&f, 1, 400, 4000, 5);
		return fwrite(f.p, 1, f.n, stdout) != f.n;
	}
END
# shellcheck disable=SC2046 # flags
gcc -D_GNU_SOURCE -iquote . -I format/uapi -o "$tmp/small" "$tmp/small.c" "$build/liblab.a" "$build/libformat.a" \
	$(pkg-config --cflags --libs cmocka libbsd libzstd)
"$tmp/small" >"$dir/small.spoor"

perf record --buildid-mmap -e cpu-clock -F 199 -g -o "$tmp/perf.data" "$fixtures/burn" 300 >/dev/null 2>&1
"$spoor" import "$tmp/perf.data" -o "$dir/imported.spoor"

seeds=tests/fuzz/seeds/fuzz_recording
cp $seeds/closed.spoor "$dir/verbatim.spoor"
for f in cut header-damaged payload-damaged; do
	cp $seeds/$f.spoor "$dir/"
done

for f in "$dir"/*.spoor; do
	chmod 644 "$f"
	"$spoor" info --json "$f" 2>/dev/null >"${f%.spoor}.json"
	digest "$f" >"${f%.spoor}.dump.sha256"
done
du -sh "$dir"
