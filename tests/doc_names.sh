#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/doc_names.sh [ROOT]: what ARCHITECTURE.md, HACKING.md and the README.md of the folders name is there: each
# function() is defined, and each `name_of_words` is a file, or a word of the sources that stands in no comment. Functions
# of others (Linux, libc) are listed below. Each path in backquotes and each `name.t` is there, and each "make target" is one
# of the Makefile's.
set -u
export LC_ALL=C
cd "${1:-.}" || exit 2

others='vfork io_schedule schedule do_perf_sw_event perf_swevent_event noun_verb'
docs=(docs/ARCHITECTURE.md docs/HACKING.md {format,recorder,daemon,symbolizer}/README.md)

sources() # without uapi, which is the kernel's
{
	find {format,recorder,daemon,symbolizer,tests}/ floor.h banned.h \( -name '*.[ch]' -o -name '*.cc' \) ! -path '*/uapi/*' -print0 |
		xargs -0 perl -0pe 's,/\*.*?\*/, ,gs'
}

bad=0
complain()
{
	echo "doc_names: $*" >&2
	bad=1
}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
sources >"$work/code"
# A definition begins its line, here and nowhere else; a macro is defined as one.
grep -oE '^([a-z_][a-z0-9_]*)\(|^#define [a-z_][a-z0-9_]*\(' "$work/code" | sed 's/^#define //; s/($//' | sort -u >"$work/functions"
{
	grep -ohE '[A-Za-z_][A-Za-z0-9_]*' "$work/code"
	cat tests/*.sh tests/*/*.sh Makefile .ci/* 2>/dev/null | sed 's/^[[:space:]]*#.*//' | grep -oE '[A-Za-z_][A-Za-z0-9_]*'
	find {format,recorder,daemon,symbolizer,tests,docs}/ -type f | sed 's,.*/,,; s,\..*,,'
	tr ' ' '\n' <<<"$others"
} | sort -u >"$work/words"

for doc in "${docs[@]}"; do
	while read -r name; do
		grep -qxF "$name" "$work/functions" || [[ " $others " = *" $name "* ]] ||
			complain "$doc names $name(), which is defined nowhere"
	done < <(grep -oE '\b[a-z_][a-z0-9_]*\(\)' "$doc" | tr -d '()' | sort -u)
	# Blocks are commands; what has a slash, a dot or a dash is a path, an event or an option.
	while read -r name; do
		grep -qxF "$name" "$work/words" || complain "$doc names $name, which is no file, and stands in no source"
	done < <(sed '/^ *```/,/^ *```/d' "$doc" | grep -oE '`[^`]+`' | tr -d '`' | tr ' ,' '\n' | grep -xE '[a-z][a-z0-9]*(_[a-z0-9]+)+' | sort -u)
	# A capital or a brace stands for many; a program, or both files of a noun, are named without what they end in.
	while read -r path; do
		[ -e "$path" ] || [ -e "$path.c" ] || complain "$doc names $path, which is not there"
	done < <(grep -oE '`(format|recorder|symbolizer|daemon|tests|docs|systemd|completions|\.ci)/[a-z0-9_./-]+`' "$doc" | tr -d '`' | sort -u)
	while read -r name; do
		[ -n "$(find tests/ -name "$name" -print -quit)" ] || complain "$doc names $name, which is no test"
	done < <(grep -oE '`[a-z0-9_]+\.t`' "$doc" | tr -d '`' | sort -u)
	while read -r target; do
		grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile || complain "$doc names make $target, which is no target"
	done < <(grep -oE '(`|^)make( -j[0-9]*| [A-Z]+=[^ `]*)* [a-z][a-z0-9-]+' "$doc" | sed 's/.* //' | sort -u)
done
exit $bad
