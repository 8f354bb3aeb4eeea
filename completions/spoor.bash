# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of spoor(1) for bash. Commands, options, sort keys and forms of export are
# what the installed spoor says, control groups are those of this host.

# Takes the words on standard input that go on from what was typed behind PREFIX. They are compared
# as they are: compgen -W would expand them, and whoever may make a control group names it.
_spoor_offer() # PREFIX
{
	local word

	while IFS= read -r word; do
		[[ $word != "${cur#"$1"}"* || ,$1 == *,"$word",* ]] || COMPREPLY+=("$1$word")
	done
}

# The same for a list with commas.
_spoor_offer_list()
{
	local list=${cur%"${cur##*,}"}

	[[ $cur != +* ]] || list=${list:-+}
	_spoor_offer "$list"
}

_spoor_listed() # COMMAND AFTER: names behind these words of its help
{
	spoor "$1" --help 2>/dev/null | tr -s ' \n' ' ' | sed -nE "s/.* $2(( [a-z][a-z_-]*)*) -.*/\\1/p" | tr ' ' '\n' | grep .
}

_spoor_events()
{
	spoor list --names 2>/dev/null
}

# Those of the recording that is named, or is read without a name.
_spoor_recorded_events()
{
	local file=() i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in -i | --input) file=(-i "${COMP_WORDS[i + 1]}") ;; esac
	done
	spoor report --header-only "${file[@]}" 2>/dev/null </dev/null |
		sed -n '/name = dummy/d; s/^# event : name = \(.*\), type = .*/\1/p' | sort -u
}

_spoor_cgroups() # FORMAT: of find
{
	local root

	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	[[ -n $root ]] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[[ -z $root ]] || find "$root" -mindepth 1 -type d -printf "$1" 2>/dev/null | sort -u
}

_spoor()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev command='' word commands options='' i=$COMP_CWORD joined

	COMPREPLY=()
	# bash takes words apart at = and :
	while [[ $i -gt 1 && ($cur == [=:]* || ${COMP_WORDS[i - 1]} == [=:]) ]]; do
		i=$((i - 1))
		cur=${COMP_WORDS[i]}$cur
	done
	prev=${COMP_WORDS[i - 1]}
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*}
		cur=${cur#*=}
	fi
	joined=$((COMP_CWORD - i))
	commands=$(spoor --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
	for word in "${COMP_WORDS[@]:1:i-1}"; do
		case " ${commands//$'\n'/ } " in *" $word "*)
			command=$word
			break
			;;
		esac
	done
	case $command:$prev in
	report:-s | report:--sort)
		_spoor_offer_list < <(_spoor_listed report 'keys are')
		;;
	report:-F | report:--fields)
		_spoor_offer_list < <(_spoor_listed report 'keys and' && _spoor_listed report 'keys are')
		;;
	report:--percentage | tree:--percentage | peek:--percentage | timeline:--percentage | heatmap:--percentage)
		_spoor_offer '' <<<$'absolute\nrelative'
		;;
	record:-e | record:--event)
		_spoor_offer_list < <(_spoor_events)
		;;
	*:--event)
		_spoor_offer_list < <(_spoor_recorded_events)
		;;
	record:--cgroup | names:--cgroup)
		_spoor_offer '' < <(_spoor_cgroups '%P\n')
		;;
	*:--cgroup)
		_spoor_offer_list < <(_spoor_cgroups '/%P\n%P\n%f\n')
		;;
	record:--unit)
		_spoor_offer '' < <(_spoor_cgroups '%f\n' | grep -E '\.(service|scope|slice|socket|mount)$')
		;;
	*:--unit)
		_spoor_offer_list < <(_spoor_cgroups '%f\n' | grep -E '\.(service|scope|slice|socket|mount)$')
		;;
	record:--slice)
		_spoor_offer '' < <(_spoor_cgroups '%f\n' | grep '\.slice$')
		;;
	*:--slice)
		_spoor_offer_list < <(_spoor_cgroups '%f\n' | grep '\.slice$')
		;;
	report:-g | report:--call-graph)
		_spoor_offer_list <<<$'graph\nfractal\nflat\nfolded\nnone\ncaller\ncallee\npercent\nperiod\ncount'
		;;
	*:--call-graph)
		_spoor_offer '' <<<$'fp\nauto\ndwarf\nnone'
		;;
	record:--build-ids)
		_spoor_offer '' <<<$'auto\nkernel\nfile'
		;;
	record:--store-objects)
		_spoor_offer '' <<<$'all\nephemeral\nnone'
		;;
	record:-p | record:-t | names:-p | *:--pid | *:--tid)
		_spoor_offer_list < <(ps -eo pid= 2>/dev/null | tr -d ' ')
		;;
	export:-f | *:--format)
		_spoor_offer '' < <(_spoor_listed export 'formats are')
		;;
	export:--weight)
		_spoor_offer '' <<<$'samples\nperiod'
		;;
	annotate:-M | annotate:--disassembler-style)
		_spoor_offer '' <<<$'att\nintel'
		;;
	*:--color)
		_spoor_offer '' <<<$'auto\nalways\nnever'
		;;
	*)
		case $command:$cur in
		:-*) options=$(spoor --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u) ;;
		:* | help:*) options=$commands ;;
		*:-*) options=$(spoor "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u) ;;
		list:*) _spoor_offer '' < <(_spoor_events) ;;
		*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		esac
		[[ -z $options ]] || _spoor_offer '' <<<"$options"
		;;
	esac
	# What bash has as a word begins behind the last colon.
	[[ $joined -eq 0 || $cur != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
}
complete -o filenames -F _spoor spoor
