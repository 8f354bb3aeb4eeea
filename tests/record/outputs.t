#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @alone it sets fs.protected_regular and its like
#
# Where exports and imports go: never over what they are made of, whole or not at all, and with a
# word that says what is wrong with which file.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

small=$TOP/tests/golden/0.1.0/small.spoor
cp "$small" own.spoor
"$SPOOR" export -f perf-data-file own.spoor -o own.file 2>/dev/null || bail "no export"
"$SPOOR" export -f perf-data own.spoor -o own.pipe 2>/dev/null || bail "no export"

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
	is "$(find over -name '.spoor.*' | wc -l)" 0 "$how: nothing is left over"
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

# --- what others put where anybody can write ----------------------------------------------------

if [ "$(id -u)" -ne 0 ]; then
	skip "only root can make what is another's"
else
	# The kernel's own protection off, where that can be: ours does not need it.
	for key in symlinks regular fifos; do
		was=$(cat /proc/sys/fs/protected_$key)
		[ "$was" = 0 ] || { echo 0 >/proc/sys/fs/protected_$key; } 2>/dev/null || continue
		at_exit "echo $was >/proc/sys/fs/protected_$key"
	done
	mkdir -m 1777 shared && chmod 1777 shared && mkdir private
	plant() # NAME: a link there that another user made
	{
		rm -f private/* "shared/$1"
		ln -s ../private/victim "shared/$1" && chown -h 65533:65533 "shared/$1"
	}
	for command in "export -f folded own.spoor -o" "export -f perf-data own.spoor -o" \
		"export -f perf-data own.spoor -o x --write-kallsyms" "import -q own.file -o" \
		"record -F 99 -o"; do
		plant out
		# shellcheck disable=SC2086
		exits 1 "$command: a planted link" timeout 20 "$SPOOR" $command shared/out
		like "$(cat err)" 'shared/out: another user put that there' "$command: it is told"
		is "$(ls private)" "" "$command: it is not followed"
		echo old >private/victim
		# shellcheck disable=SC2086
		exits 1 "$command: one to a file" timeout 20 "$SPOOR" $command shared/out
		is "$(cat private/victim) $(ls private)" "old victim" "$command: that stays as it was"
	done
	rm -f shared/out && mkfifo -m 666 shared/out && chown 65533:65533 shared/out
	exits 1 "a planted FIFO" timeout 20 sh -c "exec 3<>shared/out; \"$SPOOR\" export own.spoor -f folded -o shared/out"
	like "$(cat err)" 'shared/out: another user put that there' "is told"
	rm -f shared/out && : >shared/out && chmod 666 shared/out && chown 65533:65533 shared/out
	exits 1 "a planted file" "$SPOOR" record -F 99 -o shared/out -- true
	is "$(stat -c %s shared/out)" 0 "gets nothing"
	plant out && chown -h 0:0 shared/out
	exits 0 "one's own link" "$SPOOR" export -f perf-data own.spoor -o shared/out
	same "is followed" own.pipe private/victim
fi

# --- what cannot be written, or read ---------------------------------------------------------------

exits 1 "a spool that is full" env TMPDIR=/nowhere "$SPOOR" export -f perf-data-file -o /dev/null own.spoor
like "$(cat err)" '/nowhere.*TMPDIR' "is said to be one, and what to do"
exits 2 "-o and --write-kallsyms of one name" "$SPOOR" export -f perf-data -o one --write-kallsyms one own.spoor
nok "write neither" [ -e one ]
# shellcheck disable=SC2016
exits 1 "import to a full pipe" sh -c '"$SPOOR" import -qo - own.pipe >/dev/full'
like "$(cat err)" 'standard output: No space' "calls it by its name"
# What fails before the end, so that more is written after it.
for command in "export -f csv" "export -f firefox" "flamegraph --svg"; do
	# shellcheck disable=SC2016,SC2086
	exits 1 "$command over a limit" bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - \
		"$SPOOR" $command -o limited own.spoor
	like "$(cat err)" 'limited: File too large' "$command: says what is wrong"
	is "$(find . -name 'limited*' -o -name '.spoor.*')" "" "$command: leaves nothing"
done
# Ended while it writes.
if python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_RDWR)' 2>/dev/null; then
	mkdir killed && echo old >killed/x
	for command in "export -f csv" "export -f perf-data" "flamegraph --svg"; do
		# shellcheck disable=SC2086
		(ulimit -c 0; ulimit -f 1; exec "$SPOOR" $command -o killed/x own.spoor) 2>/dev/null
		is "$?" $((128 + $(kill -l XFSZ))) "$command: a signal ends it"
		is "$(ls -A killed) $(cat killed/x)" "x old" "$command: nothing of it is there"
	done
else
	skip "this file system has no files without a name" 6
fi
long=$(printf '%0255d' 0)
exits 0 "the longest of names" "$SPOOR" export -f perf-data own.spoor -o "$long"
same "is one" own.pipe "$long"
exits 1 "a longer one" "$SPOOR" export -f perf-data own.spoor -o "x$long"
exits 1 "import of a device" "$SPOOR" import -o x /dev/zero
like "$(cat err)" '/dev/zero: is a device, not a perf.data' "says so"
for format in folded perf-data perf-data-file; do
	# shellcheck disable=SC2016
	exits 1 "$format to who reads no more" bash -c 'trap "" PIPE
		{
			while printf x; do sleep 0.05; done 2>/dev/null
			"$SPOOR" export -f '$format' own.spoor 2>err.pipe
			echo $? >status
		} | :
		exit "$(cat status)"'
	is "$(grep -c 'Broken pipe' err.pipe)" 0 "$format: is no news"
done

# --- who may read it: no more than may read what it is made of -----------------------------------------

makes() # MODE UMASK MAKER: the mode of what it makes of something of MODE
{
	local format=${3#export-}

	rm -f made
	chmod "$1" own.spoor own.file
	(
		umask "$2"
		case $3 in
		import) "$SPOOR" import -q own.file -o made ;;
		pipe) "$SPOOR" import -q - -o made < <(cat own.file) ;;
		stdin) "$SPOOR" import -q - -o made <own.file ;;
		kallsyms) "$SPOOR" export -f perf-data -o /dev/null --write-kallsyms made own.spoor ;;
		*) "$SPOOR" export -f "$format" own.spoor -o made ;;
		esac
	) 2>err || diag_file err
	stat -c %a made
}
for how in import stdin export-folded export-perf-data export-perf-data-file kallsyms; do
	is "$(makes 600 022 $how) $(makes 644 022 $how) $(makes 644 027 $how) $(makes 444 0 $how)" "600 644 640 444" \
		"$how: the permissions of its input, and the umask"
done
is "$(makes 644 022 pipe)" 600 "import of a pipe: its owner's alone"
chmod 644 own.spoor own.file
rm -rf several && mkdir several && cp own.spoor several/a.spoor && cp own.spoor several/b.spoor
chmod 640 several/a.spoor && chmod 604 several/b.spoor
ok "an archive" "$SPOOR" export -f folded several -o made
is "$(stat -c %a made)" 600 "what all of its recordings let do"
chmod 640 own.spoor
if chgrp "$(id -G nobody 2>/dev/null || echo 65534)" own.spoor 2>/dev/null; then
	ok "one of another group" "$SPOOR" export -f folded own.spoor -o made
	is "$(stat -c '%a %g' made)" "600 $(id -g)" "is not for our group"
	chgrp "$(id -g)" own.spoor
else
	skip "only root gives files to another group" 2
fi
ok "one of our group" "$SPOOR" export -f folded own.spoor -o made
is "$(umask 022; "$SPOOR" export -f folded own.spoor -o made; stat -c %a made)" 640 "is"
chmod 644 own.spoor

# --- names that are not for a terminal ---------------------------------------------------------------

bad=$'\e[31mred\n\xff'
mkdir archive
cp own.spoor "archive/$bad.spoor"
head -c 3000 own.spoor >"archive/cut$bad.spoor"
: >"archive/empty$bad.spoor"
python3 "$TOP/tests/oracles/forge_perfdata.py" names names.data
cp names.data "archive/data$bad.spoor"
for command in report info dump verify "report --time 10%-20%" "export -f folded" "export -f perf-data"; do
	for input in archive names.data; do
		# shellcheck disable=SC2086 # options
		"$SPOOR" $command $input >/dev/null 2>err
		is "$(LC_ALL=C tr -d '\n -~' <err | wc -c)" 0 "$command $input: nothing unprintable" || cat -v err
		is "$(grep -vc '^spoor: ' err)" 0 "$command $input: a message is a line" || cat -v err
	done
done
like "$("$SPOOR" info archive 2>&1)" '033\[31mred' "the names are there"

done_testing
