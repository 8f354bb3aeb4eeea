#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make bench`: the recorder's own CPU time and file size, spoor against perf record and perf record
# -z doing the same work over the same load, in turns. Settings: see tests/bench/record.py --help,
# passed in BENCH_ARGS. Then what is stored: columns against zstd of the raw records, see
# tests/bench/columns.py --help, passed in BENCH_COLUMNS_ARGS.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
mkdir -p "$BUILD/bench"

"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -pthread -o "$BUILD/bench/load" tests/demo_load.c

# shellcheck disable=SC2086 # several arguments in one variable
python3 tests/bench/record.py --build "$BUILD" ${BENCH_ARGS-} "$@"
echo
# shellcheck disable=SC2086
exec python3 tests/bench/columns.py --build "$BUILD" ${BENCH_COLUMNS_ARGS-}
