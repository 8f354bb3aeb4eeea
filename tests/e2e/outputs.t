#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where exports and imports go: never over what they are made of, whole or not at all, and with a
# word that says what is wrong with which file.
. "$(dirname "$0")/../lib.sh"

small=$TOP/tests/golden/0.1.0/small.spoor
cp "$small" own.spoor
"$SPOOR" export -f perf-data-file own.spoor -o own.file 2>/dev/null || bail "no export"
"$SPOOR" export -f perf-data own.spoor -o own.pipe 2>/dev/null || bail "no export"

same() # NAME FILE FILE
{
	ok "$1" cmp "$2" "$3"
}

# --- the output is the input, by one name or another ---------------------------------------------

for how in itself symlink hardlink; do
	for format in folded perf-data perf-data-file; do
		rm -rf over && mkdir over
		cp own.spoor over/a.spoor
		case $how in
		itself) to=over/a.spoor ;;
		symlink) ln -s a.spoor over/l && to=over/l ;;
		hardlink) ln over/a.spoor over/h && to=over/h ;;
		esac
		exits 0 "$format over $how" "$SPOOR" export -f $format over/a.spoor -o "$to"
		"$SPOOR" export -f $format own.spoor >want 2>/dev/null
		same "$format over $how: all of it" want "$to"
	done
	cp own.file over/b.data
	case $how in
	itself) to=over/b.data ;;
	symlink) ln -sf b.data over/l && to=over/l ;;
	hardlink) ln -f over/b.data over/h && to=over/h ;;
	esac
	exits 0 "import over $how" "$SPOOR" import -q over/b.data -o "$to"
	is "$("$SPOOR" info --json "$to" 2>/dev/null | jq .samples)" \
		"$("$SPOOR" info --json own.spoor 2>/dev/null | jq .samples)" "import over $how: all of it"
	is "$(find over -name '*.??????' | wc -l)" 0 "$how: nothing is left over"
	[ $how != symlink ] || ok "the link stays one" [ -L over/l ]
done

# --- links that lead elsewhere -------------------------------------------------------------------

ln -s nowhere dangling
exits 0 "to a file that a link names and that is not there" "$SPOOR" export -f perf-data own.spoor -o dangling
same "makes it" own.pipe nowhere
ln -s loop loop
exits 1 "a link to itself" "$SPOOR" export -f perf-data own.spoor -o loop
like "$(cat err)" 'loop: Too many levels' "is said"
echo before >kept
ln -s kept link
exits 1 "what fails" "$SPOOR" export -f perf-data "$TOP/Makefile" -o link
is "$(cat kept)" before "leaves what was there"
(echo first && "$SPOOR" export -f perf-data own.spoor -o /dev/stdout) 2>/dev/null | tail -n +2 >behind
same "/dev/stdout is a pipe" own.pipe behind

done_testing
