# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of spoor symbolize against other symbolizers, after lib.sh: programs made of tests/fixtures/symbolize,
# and the comparison.
FROM=$TOP/tests/fixtures/symbolize
cp "$FROM"/* . || exit 1

# The objects are made in a directory of their own, since .dwo files are named after them.
compile() # OUT CC CXX FLAGS...: $LINK adds flags of the linker
{
	local out=$1 cc=$2 cxx=$3
	shift 3
	# shellcheck disable=SC2086 # flags
	mkdir "$out.o" && cd "$out.o" && "$cc" "$@" -c ../nested.c && "$cxx" "$@" -c ../shapes.cc &&
		"$cc" -g -c ../leaf.s && "$cxx" "$@" ./*.o -o "../$out" ${LINK-} && cd ..
}

made() # OUT CC CXX FLAGS...
{
	compile "$@" >log 2>&1 && return
	cd "$TMP" || exit 1
	fail "$1 is made" "${*:2}"
	diag_file log
	return 1
}

agrees() # FILE ORACLES [NAME]
{
	if python3 "$TOP/tests/oracles/symbolize_oracle.py" "$SPOOR" "$1" "$2" "${COUNT-2000}" >log 2>&1; then
		pass "${3:-$1}: $(tail -n 1 log)"
	else
		fail "${3:-$1}"
		diag_file log
	fi
}
