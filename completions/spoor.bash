# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of spoor(1) for bash. Commands and options are what the installed spoor says.

_spoor()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word commands options

	COMPREPLY=()
	commands=$(spoor --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case " ${commands//$'\n'/ } " in *" $word "*)
			command=$word
			break
			;;
		esac
	done
	case $prev in
	--call-graph)
		mapfile -t COMPREPLY < <(compgen -W 'fp dwarf none' -- "$cur")
		return
		;;
	--build-ids)
		mapfile -t COMPREPLY < <(compgen -W 'auto kernel file' -- "$cur")
		return
		;;
	-p | --pid | -t | --tid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$cur")
		return
		;;
	-f | --format)
		mapfile -t COMPREPLY < <(compgen -W 'folded perf-data perf-data-file' -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
		return
		;;
	esac
	case $command:$cur in
	:-*)
		options=$(spoor --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)
		;;
	:* | help:*)
		options=$commands
		;;
	*:-*)
		options=$(spoor "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}
complete -o filenames -F _spoor spoor
