#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/layers.sh [ROOT]: who may include whom (docs/ARCHITECTURE.md). Fails naming every line that
# breaks a rule. Two kinds of rule: quoted includes against the table below, and what format/ must
# not use because it is bytes in, structs out.
set -u
cd "${1:-.}" || exit 2

# includer: what it may include (a directory, or one header by name)
allowed()
{
	case $1 in
	format) echo 'format' ;;
	format/uapi/linux | recorder/uapi/linux) echo '' ;;
	recorder) echo 'recorder format' ;;
	symbolizer) echo 'symbolizer format' ;;
	symbolizer/cmd) echo 'symbolizer/cmd symbolizer format recorder/session.h' ;;
	daemon) echo 'daemon recorder format' ;;
	tests/unit/format) echo 'tests/unit/format format' ;;
	tests/unit/recorder) echo 'tests/unit/recorder recorder format' ;;
	tests/unit/symbolizer) echo 'tests/unit/symbolizer symbolizer format' ;;
	tests/unit/daemon) echo 'tests/unit/daemon daemon recorder format' ;;
	*) return 1 ;;
	esac
}

bad=0
complain() # FILE:LINE TEXT
{
	echo "layers: $1: $2" >&2
	bad=$((bad + 1))
}

# Sources in a directory that the table does not know would be checked by nobody.
while read -r dir; do
	allowed "$dir" >/dev/null || complain "$dir/" "is in no layer; add it to tests/layers.sh"
done < <(find format recorder symbolizer daemon tests/unit -name '*.[ch]' -printf '%h\n' 2>/dev/null | sort -u)

while IFS=: read -r file line text; do
	header=${text#*\"}
	header=${header%%\"*}
	list=$(allowed "${file%/*}") || continue
	# A unit test may name the helper beside it in short.
	if [[ $file == tests/unit/* && $header != */* && -e ${file%/*}/$header ]]; then
		continue
	fi
	case " $list " in
	*" $header "* | *" ${header%/*} "*) ;;
	*) complain "$file:$line" "may not include \"$header\"" ;;
	esac
done < <(find format recorder symbolizer daemon tests/unit -name '*.[ch]' -exec \
	grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + 2>/dev/null)

# The other way in: project headers between angle brackets.
while IFS=: read -r file line _; do
	complain "$file:$line" "project headers are included with quotes and a full path"
done < <(find format recorder symbolizer daemon -name '*.[ch]' -exec \
	grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(format|recorder|symbolizer|daemon|tests)/' {} + 2>/dev/null)

# The sources of a layer as FILE:LINE:CODE, without comments and without what strings hold.
code()
{
	find "$1" -name '*.[ch]' -exec awk '
	FNR == 1 { comment = 0 }
	{
		out = ""
		rest = $0
		while (rest != "") {
			if (comment) {
				if (!(i = index(rest, "*/")))
					break
				rest = substr(rest, i + 2)
				comment = 0
			} else if (match(rest, /\/\*|"(\\.|[^"\\])*"|\047(\\.|[^\047\\])*\047/)) {
				out = out substr(rest, 1, RSTART - 1)
				if (substr(rest, RSTART, 2) == "/*")
					comment = 1
				else
					out = out "\"\""
				rest = substr(rest, RSTART + RLENGTH)
			} else {
				out = out rest
				break
			}
		}
		print FILENAME ":" FNR ":" out
	}' {} + 2>/dev/null
}

# forbid LAYER WHY REGEX
forbid()
{
	local file line
	while IFS=: read -r file line _; do
		complain "$file:$line" "$2"
	done < <(printf '%s\n' "${sources[$1]}" | grep -E "^[^:]*:[0-9]+:(.*[^[:alnum:]_>.])?$3")
}

declare -A sources
for layer in format recorder daemon; do
	sources[$layer]=$(code $layer)
done

forbid format 'format/ knows no sockets, threads, processes or terminals' \
	'#[[:space:]]*include[[:space:]]*<(sys/socket|sys/un|netinet/|arpa/|(netdb|pthread|threads|err|syslog|curses|sys/wait|spawn)\.h)'
forbid format 'format/ does not print' \
	"(printf|fprintf|dprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|perror|psignal|warn|warnx|err|errx|verr|vwarn)[[:space:]]*\\("
forbid format 'format/ does not exit' "(exit|_exit|_Exit|quick_exit|atexit)[[:space:]]*\\("
forbid format 'format/ asks no clock' \
	"(clock_gettime|gettimeofday|time|clock|nanosleep|usleep|sleep|timer_create|timerfd_create)[[:space:]]*\\("
forbid format 'format/ asks no environment' "(getenv|secure_getenv|getpid|gettid|uname|gethostname|sysconf)[[:space:]]*\\("
forbid recorder 'recorder/ leaves compression to format/' '(ZSTD_|#[[:space:]]*include[[:space:]]*<zstd)'
forbid recorder 'recorder/ parses no ELF or DWARF through a library' \
	'#[[:space:]]*include[[:space:]]*<(libelf|gelf|dwarf|elfutils/)'
forbid daemon 'daemon/ parses no ELF or DWARF' '#[[:space:]]*include[[:space:]]*<(libelf|gelf|dwarf|elfutils/|elf)'

if [ $bad -gt 0 ]; then
	echo "layers: $bad broken rules" >&2
	exit 1
fi
