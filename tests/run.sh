#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What prove runs for each test: `prove -e tests/run.sh FILE...`. A *.t is a shell test that speaks
# TAP itself; a *.replay is fed its seeds; anything else is a cmocka program, whose TAP is mended:
# cmocka prints one plan per group and calls a skipped test "not ok". A test that hangs is ended.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C TZ=UTC CMOCKA_MESSAGE_OUTPUT=TAP
export UBSAN_OPTIONS="${UBSAN_OPTIONS-print_stacktrace=1}"
limit=(timeout --kill-after=10 "${TEST_TIMEOUT:-900}")

case $1 in
*.t)
	exec "${limit[@]}" bash "$@"
	;;
*.replay)
	target=$(basename "$1" .replay)
	exec "${limit[@]}" "$1" "tests/fuzz/seeds/$target"
	;;
esac

"${limit[@]}" "$@" | awk '
/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
/^(not )?ok( |$)/ {
	seen++
	if ($0 ~ /^not ok.*# *(SKIP|skip)/)
		sub(/^not ok/, "ok")
	sub(/^(not )?ok( +[0-9]+)?/, "& ")
	word = ($0 ~ /^not ok/) ? "not ok" : "ok"
	sub(/^(not )?ok *[0-9]*[ -]*/, "")
	print word " " seen " - " $0
	fflush()
	next
}
/^#/ { print; next }
{ print "# " $0 }
END { print "1.." planned + 0 }'
exit "${PIPESTATUS[0]}"
