#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# Build-ids by the files themselves are as good as the kernel's: of short processes, of a compiler, in
# a container, of what is deleted or replaced. Both ways record the same load at the same time.
. "$(dirname "$0")/../lib.sh"
need_command jq g++ make
need_record_all

# RECORDING: of each sample in a file the process, the build-id ("-": none) and the path
ids()
{
	"$BUILD/tests/bench/ids" -v "$1"
}

recorders=()
record() # WAY: into WAY.spoor, until stop
{
	rm -f "$1.spoor" # or the wait would be for the last one's
	background "$SPOOR" record -a -F "${frequency:-1999}" -m 512 --build-ids "$1" -o "$1.spoor" 2>"$1.err"
	recorders+=("$!")
	wait_for 20 test -s "$1.spoor"
}

stop()
{
	kill -INT "${recorders[@]}"
	wait "${recorders[@]}"
	recorders=()
}

# NAME: both ways tell the same builds; of the samples that the kernel's way names the files' way
# names 99.5 %.
compare()
{
	local kernel file

	kernel=$("$BUILD/tests/bench/ids" kernel.spoor)
	file=$("$BUILD/tests/bench/ids" file.spoor)
	diag "$1: kernel $kernel, files $file"
	in_range "$(jq .samples <<<"$file")" 100 100000000 "$1: there are samples in files"
	# Compared sample by sample: the two take theirs at other times, and their totals vary by as much.
	ids kernel.spoor | awk '$2 != "-" { print $1, $3 }' | sort -u >told
	ids file.spoor | awk 'NR == FNR { told[$1, $2]; next }
		($1, $3) in told { print ($2 == "-" ? "unknown" : "known"), $3 }' told - >file.ids
	in_range "$(awk '$1 == "known" { n++ } END { if (NR) print n / NR }' file.ids)" 0.995 1 \
		"$1: as many are known by their files" ||
		diag "$(grep ^unknown file.ids | sort | uniq -c | sort -rn | head)"
	diag "$1: $(awk '{ n[$1]++ } END { print n["known"] + 0, "known,", n["unknown"] + 0, "not" }' file.ids)"
	ids kernel.spoor | sort -u >told
	ids file.spoor | awk '$2 != "-"' | sort -u >found
	# What one of them has no sample of cannot be compared.
	is "$(awk 'NR == FNR { id[$1, $3] = id[$1, $3] " " $2; next }
		id[$1, $3] != "" && id[$1, $3] != " -" && !index(id[$1, $3] " ", " " $2 " ")' told found |
		grep -vc /surrogate)" 0 "$1: and none wrongly"
}

mkdir bin lib
cp "$FIXTURES"/libstorm_*.so lib/
cp "$FIXTURES"/storm{,_other} bin/
record kernel
record file
ok "a fork storm" bin/storm 1500 "$TMP/log" "$TMP/lib" "$TMP/bin/storm" "$TMP/bin/storm_other"
stop
compare "fork storm"

for i in 1 2 3 4; do
	printf '#include <regex>\nstd::regex f%d("a+");\n' "$i" >"f$i.cc"
done
cat >Makefile <<'END'
lib.so: f1.o f2.o f3.o f4.o
	$(CXX) -shared -o $@ $^
%.o: %.cc
	$(CXX) -fPIC -c -o $@ $<
END
record kernel
record file
ok "a C++ build" make -j"$(nproc)" CXX=g++
stop
compare "C++ build"

# Nobody but those inside sees their files; each program runs for less than the recorder takes to look.
mkdir jail
cp "$FIXTURES/burn" inside
container()
{
	unshare --mount --propagation private sh -c '
		mount -t tmpfs jail jail && cp inside jail/program &&
		for i in $(seq 100); do jail/program 30 1 >/dev/null; done'
}
unknown() # PATH: samples without a build-id
{
	ids file.spoor | awk -v path="$1" '$2 == "-" && $3 == path' | wc -l
}
for i in 1 2 3; do
	record file
	ok "a container with short processes" container
	stop
	in_range "$(ids file.spoor | grep -c ' /.*jail/program$')" 100 10000000 "there are samples in them"
	is "$(unknown "$TMP/jail/program")" 0 "their file is known"
done

# One path, most of the time one inode number, and another build each time.
for i in 1 2; do
	sed "s/burn_hot/burn_hot_$i/" "$TOP/tests/fixtures/burn.c" >burn.c
	"${CC:-gcc}" -O1 -g -pthread -Wl,--build-id=sha1 -o "build$i" burn.c || bail "no compiler"
done
record kernel
record file
for i in $(seq 20); do
	cp build$((i % 2 + 1)) program && ./program 60 1 >/dev/null
	rm program
done
stop
ids kernel.spoor | grep ' /.*/program$' | sort -u >told
ids file.spoor | awk '$2 != "-"' | grep ' /.*/program$' | sort -u >found
diag "$(wc -l <told) processes, the files tell of $(wc -l <found)"
in_range "$(awk '{ print $2 }' told | sort -u | wc -l)" 2 2 "a path that is replaced again and again"
is "$(comm -13 told found | awk 'NR == FNR { seen[$1]; next } $1 in seen' told - | wc -l)" 0 \
	"is never taken for another build"

# A program that is deleted while it runs.
cp "$FIXTURES/burn" deleted
background ./deleted 3000 1 >deleted.log
wait_for 10 test -s deleted.log
rm deleted
record file
sleep 1
stop
in_range "$(ids file.spoor | grep -c '/deleted (deleted)$')" 100 1000000 "a deleted file that still runs"
is "$(ids file.spoor | grep -c -- '- .*/deleted (deleted)$')" 0 "is known"

# New programs all the time, each over before it is asked for: no block ends before the answers of its
# last second.
mkdir new
for i in $(seq 140); do
	cp "$FIXTURES/burn" "new/$i"
done
frequency=99 record file
for i in $(seq 140); do
	"new/$i" 100 >/dev/null
done
sleep 1
stop
in_range "$(ids file.spoor | awk '{ print $3 }' | grep -c '/new/')" 1000 100000000 "short programs"
is "$(ids file.spoor | grep -c -- '- .*/new/')" 0 "are known, whenever a block ends"

done_testing
