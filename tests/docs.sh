#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/docs.sh [ROOT]: manual pages are sound mdoc, without a warning of groff's and with each quote and bracket of a
# paragraph closed, as they are in 80 columns; every subcommand of spoor has one, in the list of
# spoor(1); every option that `spoor CMD --help` prints is in it or in spoor-input(7), and what it says
# of a command is in its help; every key of daemon/config/config_tbl.h is in spoord.conf(5) and, with its default,
# in systemd/spoord.conf, and nothing else is; how long a label may be is said as it is; files that
# README and docs/ name exist, and the tests that SECURITY of spoord(8) names.
set -u
export LC_ALL=C.UTF-8
cd "${1:-.}" || exit 2
spoor=${SPOOR:-${BUILD:-build}/spoor}
spoord=${SPOORD:-${BUILD:-build}/spoord}

bad=0
complain()
{
	echo "docs: $*" >&2
	bad=1
}

options_of() # PAGE: long options in its items
{
	sed -n 's/^\.It //p' "$1" | grep -oE 'Fl -[a-z][a-z-]+' | sed 's/^Fl -//' | sort -u
}

unbalanced() # PAGE, as text, on standard input: paragraphs in which a quote or a bracket has no other one
{
	python3 -c '
import re, sys
text = re.sub("\u2010\n\\s*", "", sys.stdin.read())
for paragraph in re.split(r"\n\s*\n", text):
    words = " ".join(re.sub("(?<=\\w)\u2019(?=\\w)", "", paragraph).split())
    for pair in ("()", "[]", "{}", "\u2018\u2019", "\u201c\u201d"):
        if words.count(pair[0]) != words.count(pair[1]):
            print(words[:200])
            break'
}

shopt -s nullglob
pages=(docs/*.[1578])
for page in "${pages[@]}"; do
	# STYLE only differs with mandoc's version; warnings and errors are real.
	mandoc -Tlint -Wwarning "$page" >&2 || complain "$page: mandoc is not content"
	# mdoc takes the word as a macro, and the page says the opposite.
	! grep -n '^\.It No ' "$page" >&2 || complain "$page: an item begins with \"No\": write \"\\&No\""
	rendered=$({ groff -mdoc -Tutf8 -P-c -P-b -P-u -ww -rLL=78n "$page" | unbalanced; } 2>&1)
	[ -z "$rendered" ] || complain "$page: groff warns, or a quote or a bracket has no end: $rendered"
done

if [ -x "$spoor" ]; then
	for source in symbolizer/cmd/cmd_*.c; do
		command=$(basename "$source" .c)
		command=${command#cmd_}
		help=$("$spoor" "$command" --help 2>/dev/null) || continue
		page=docs/spoor-$command.1
		if [ ! -f "$page" ]; then
			complain "spoor $command has no manual page $page"
			continue
		fi
		grep -q "^\.It Xr spoor-$command 1" docs/spoor.1 ||
			complain "$page is not in the list of docs/spoor.1"
		text=$(sed 's/\\-/-/g; s/\\&//g' "$page" docs/spoor-input.7 docs/spoor.1)
		for option in $(printf '%s\n' "$help" | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
			printf '%s\n' "$text" | grep -qE -- "Fl -${option#--}([^a-z-]|$)" ||
				complain "spoor $command: $option is neither in $page nor in those for all"
		done
		for option in $(options_of "$page"); do
			printf '%s\n' "$help" | grep -qE -- "--$option([^a-z-]|$)" ||
				complain "spoor $command has no --$option, which $page tells of"
		done
	done
fi

keys=$(sed -n 's/^CONFIG_ROW(\([a-z_]*\), .*/\1/p' daemon/config/config_tbl.h | sort)
defaults=$(sed -n 's/^CONFIG_ROW(\([a-z_]*\), [A-Z]*, [A-Z_]*, "\([^"]*\)".*/\1 = \2/p' daemon/config/config_tbl.h |
	sed 's/ $//' | sort)
[ "$keys" = "$(sed -n 's/^\.It Cm \([a-z_]*\)$/\1/p' docs/spoord.conf.5 | sort)" ] ||
	complain "docs/spoord.conf.5 has other keys than daemon/config/config_tbl.h"
[ "$defaults" = "$(sed -n 's/^#\([a-z_]* =.*\)/\1/p' systemd/spoord.conf | sort)" ] ||
	complain "systemd/spoord.conf has other defaults than daemon/config/config_tbl.h"
if [ -x "$spoord" ]; then
	# As shipped, and with every default spelled out, it means what no file means.
	want=$(printf '' | "$spoord" -n -c /dev/stdin) || complain "spoord -n refuses an empty file"
	for edit in '' 's/^#\([a-z_]* =\)/\1/'; do
		[ "$want" = "$(sed "$edit" systemd/spoord.conf | "$spoord" -n -c /dev/stdin)" ] ||
			complain "systemd/spoord.conf is not the default configuration"
	done
fi

label="1 to $(sed -n 's/^#define LABEL_BYTES_MAX //p' daemon/config/config_value.h) letters"
for doc in docs/io.spoor.Recorder.varlink docs/spoorctl.1; do
	grep -q "$label" "$doc" || complain "$doc does not say that a label is $label"
done

for doc in README.md docs/*.md docs/design/*.md; do
	[ -f "$doc" ] || continue
	while read -r path; do
		[ -e "$path" ] || [ -e "$(dirname "$doc")/$path" ] || complain "$doc names $path, which is not there"
	done < <(grep -oE '\]\([A-Za-z0-9_./-]+\)' "$doc" | sed 's/^](//; s/)$//')
done
# The promises of SECURITY name the tests that attack them.
while read -r test; do
	[ -e "tests/$test" ] || complain "docs/spoord.8 names the test $test, which is not there"
done < <(sed -n '/^\.Sh SECURITY/,/^\.Sh ENVIRONMENT/s/^\.Pa //p' docs/spoord.8 | tr ' ' '\n' | grep '^[a-z]*/[a-z_]*\.t$')
exit $bad
