#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/layers.sh [ROOT]: who may include whom, by the plan of the house in docs/ARCHITECTURE.md, and
# which object files need each other. Fails naming every line that breaks a rule. BUILD, from ROOT: where
# the object files are; without it they are not looked at.
set -u
cd "${1:-.}" || exit 2

bad=0
complain() # FILE:LINE TEXT
{
	echo "layers: $1: $2" >&2
	bad=$((bad + 1))
}

# --- the plan --------------------------------------------------------------------------------

# "room: what it stands on"; also on what that stands on. What is no room is a header by itself.
declare -A stands_on of_folder
rooms=()
while IFS=: read -r room below; do
	[ -z "${stands_on[$room]+set}" ] || complain docs/ARCHITECTURE.md "$room is there twice"
	reach=" $room "
	for one in $below; do
		reach+="$one ${stands_on[$one]-} "
		case $one in
		*.h) [ -e "$one" ] || complain docs/ARCHITECTURE.md "$room: there is no $one" ;;
		*) [ -n "${stands_on[$one]+set}" ] || complain docs/ARCHITECTURE.md "$room stands on $one, which is not below it" ;;
		esac
	done
	stands_on[$room]=$reach
	rooms+=("$room")
done < <(sed -n '/^```rooms$/,/^```$/{/^```/d;s/[[:space:]]*#.*//;/./p;}' docs/ARCHITECTURE.md)
[ ${#rooms[@]} -gt 0 ] || complain docs/ARCHITECTURE.md "has no plan of the house (\`\`\`rooms)"

for room in "${rooms[@]}"; do
	compgen -G "$room/*.[ch]" >/dev/null || complain docs/ARCHITECTURE.md "$room has no file"
done

# A test is about a room, and may include all of its folder; symbolizer/'s are linked without what records.
for room in "${rooms[@]}"; do
	case $room in
	symbolizer/cmd | symbolizer/record) ;;
	*) of_folder[${room%%/*}]+=${stands_on[$room]} ;;
	esac
done

room_of() # DIRECTORY: sets room (empty: none) and what its files may include
{
	room=${1#tests/unit/}
	[ -n "${stands_on[$room]+set}" ] || room=
	allowed=${stands_on[${room:-none}]-}
	[ -z "$room" ] || [ "$1" = "$room" ] || allowed=${of_folder[${room%%/*}]}
}

# --- includes --------------------------------------------------------------------------------

# Sources in a directory that the plan does not know would be checked by nobody.
while read -r dir; do
	room_of "$dir"
	case $dir in
	*/uapi/linux) ;;
	*) [ -n "$room" ] || complain "$dir/" "is no room of the plan in docs/ARCHITECTURE.md" ;;
	esac
done < <(find format recorder symbolizer daemon tests/unit -name '*.[ch]' -printf '%h\n' 2>/dev/null | sort -u)

while IFS=: read -r file line text; do
	header=${text#*\"}
	header=${header%%\"*}
	room_of "${file%/*}"
	case $header in
	tests/lab/*) [[ $file == tests/unit/* ]] && continue ;;
	*_internal.h | *_wire.h | *_impl.h)
		[ "${header%/*}" = "$room" ] ||
			complain "$file:$line" "\"$header\" is for the files of ${header%/*} alone"
		;;
	esac
	[ -n "$room" ] || continue
	case "$allowed" in
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

# --- object files ----------------------------------------------------------------------------

# Of what has a source: an object file of one that was moved stays behind.
objects()
{
	local object

	find format recorder symbolizer daemon -name '*.c' | while read -r object; do
		object=$BUILD/${object%.c}.o
		[ ! -e "$object" ] || printf '%s\n' "$object"
	done
}

# "who whom": the first needs a symbol of the second.
needs()
{
	objects | xargs -r nm -A | awk '
	{ file = $1; sub(/:[^:]*$/, "", file); type = $(NF - 1); symbol = $NF }
	type == "U" { n++; who[n] = file; what[n] = symbol; next }
	type ~ /[TDBRVWC]/ { of[symbol] = file }
	END {
		for (i = 1; i <= n; i++)
			if (what[i] in of && of[what[i]] != who[i])
				print who[i], of[what[i]]
	}' | sort -u
}

# Of who needs whom, those that are left when all are taken away that need nobody who is left, or that
# nobody who is left needs: they are in a circle, or between two.
circles()
{
	awk '
	{ need[$1] = need[$1] " " $2; needed[$2] = needed[$2] " " $1; left[$1] = left[$2] = 1 }
	function any(list, n, i, of)
	{
		n = split(list, of, " ")
		for (i = 1; i <= n; i++)
			if (of[i] in left)
				return 1
		return 0
	}
	END {
		do {
			gone = 0
			for (file in left)
				if (!any(need[file]) || !any(needed[file])) {
					delete left[file]
					gone = 1
				}
		} while (gone)
		for (file in left)
			print file
	}' | sort
}

if [ -n "${BUILD-}" ]; then
	while read -r file; do
		complain "$file" "is in a circle of object files that need each other"
	done < <(needs | circles)
fi

if [ $bad -gt 0 ]; then
	echo "layers: $bad broken rules" >&2
	exit 1
fi
