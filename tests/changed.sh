#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/changed.sh SINCE PROGRAM...: which of these unit programs, and which shell tests, a change can
# have broken; `make check CHANGED=1` runs them. SINCE is a revision (1: HEAD), to which the files of the
# working tree are compared. Called where everything is built, with BUILD.
#
# A program is chosen if what it was linked of (the FILE symbols of its symbol table) has a source that
# changed, or that includes a header that changed (the compiler's .d files). A shell test is chosen if it
# or an oracle that it names changed; those that read recordings of tests/loads/ if one of these loads changed. What no
# unit program has in it is said: `make check` has its tests.
set -eu
cd "$(dirname "$0")/.."
since=$1
shift
[ "$since" != 1 ] || since=HEAD
if ! git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
	echo "tests/changed.sh: $PWD: no git repository that has the revision $since" >&2
	exit 1
fi

mapfile -t changed < <({
	git diff --name-only "$since" --
	git ls-files --others --exclude-standard
} | sort -u)

# includers HEADER: sources whose objects were made with it. Of "x.o: x.c a.h \" the first name is the source.
includers()
{
	find "$BUILD" -name '*.d' -print0 | xargs -0 -r grep -lF -- " $1" | while read -r d; do
		tr -d '\\\n' <"$d" | awk -v header="$1" '{ for (i = 2; i <= NF && $i !~ /:$/; i++) if ($i == header) { print $2; exit } }'
	done
}

sources=()
shells=()
for file in "${changed[@]}"; do
	case $file in
	*.c) sources+=("$file") ;;
	*.h) mapfile -t -O "${#sources[@]}" sources < <(includers "$file") ;;
	tests/*/*.t) [ ! -e "$file" ] || shells+=("$file") ;;
	tests/loads/*) mapfile -t -O "${#shells[@]}" shells < <(grep -lE '^(need_recordings|recording) ' tests/*/*.t) ;;
	tests/oracles/*) mapfile -t -O "${#shells[@]}" shells < <(grep -lF "${file##*/}" tests/*/*.t) ;;
	docs/* | README.md | NEWS) shells+=(tests/meta/docs.t) ;;
	esac
done

linked=$(mktemp)
trap 'rm -f "$linked"' EXIT
for program; do
	readelf -sW "$program" | awk -v p="$program" '$4 == "FILE" { print $8, p }'
done >"$linked"
for source in ${sources[@]+"${sources[@]}"}; do
	found=$(awk -v name="${source##*/}" '$1 == name { print $2 }' "$linked")
	[ -n "$found" ] || echo "$source: in no unit program: make check has its tests" >&2
	printf '%s\n' "$found"
done | sort -u | sed '/^$/d'
printf '%s\n' ${shells[@]+"${shells[@]}"} | sort -u | sed '/^$/d'
