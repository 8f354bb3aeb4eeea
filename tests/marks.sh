# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What a test says of itself among the first lines of its source: "# @budget 40s", "# @alone REASON", in a C file with
# " *" instead of "#". Sourced by run.sh and suite.sh, in the directory above tests/.

marks_of() # FILE: a line "NAME VALUE" each
{
	local source=$1

	# A unit program's source lies as the program does below the directory of the build.
	case $1 in *.t) ;; *) source=tests/${1##*/tests/}.c ;; esac
	sed -nE '1,12s/^(#| \*) @//p' "$source" 2>/dev/null
}

budget_of() # MARKS: seconds of CPU time in user mode
{
	local found

	found=$(sed -nE 's/^budget ([0-9]+)s$/\1/p' <<<"$1")
	echo "${found:-20}"
}
