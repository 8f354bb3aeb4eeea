# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of spoorctl(1) for bash.

_spoorctl()
{
	local commands='status capture captures stop keep list sync rotate vacuum reload monitor'
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word options

	COMPREPLY=()
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case " $commands " in *" $word "*)
			command=$word
			break
			;;
		esac
	done
	case $prev in
	--socket | -o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--call-graph)
		mapfile -t COMPREPLY < <(compgen -W 'fp dwarf none' -- "$cur")
		return
		;;
	-p | --pid | -t | --tid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$cur")
		return
		;;
	-G | --cgroup)
		mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- "$cur")
		return
		;;
	--since | --until)
		mapfile -t COMPREPLY < <(compgen -W 'now today yesterday -10m -1h' -- "$cur")
		return
		;;
	--duration | -F | --frequency | -c | --period | -C | --cpu | -l | --label | --max-* | -n | --interval)
		return
		;;
	-e | --event)
		mapfile -t COMPREPLY < <(compgen -W 'cycles cpu-clock instructions cache-misses page-faults' -- "$cur")
		return
		;;
	esac
	options='--socket --json --help'
	case $command in
	'') options="$options --version $commands" ;;
	capture)
		options="$options --duration --frequency --period --event --pid --tid --cgroup --cpu --call-graph --output"
		;;
	keep) options="$options --since --until --label" ;;
	vacuum) options="$options --max-use --max-age --max-segments" ;;
	monitor) options="$options --interval" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}
complete -F _spoorctl spoorctl
