# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of spoorctl(1) for bash. IDs of captures are what the daemon says.

# Takes the words on standard input that go on from what was typed. They are compared as they are:
# compgen -W would expand them, and whoever may make a control group names it.
_spoorctl_offer()
{
	local word

	while IFS= read -r word; do
		[[ $word != "$cur"* ]] || COMPREPLY+=("$word")
	done
}

_spoorctl_cgroups() # FORMAT: of find
{
	local root

	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	[[ -n $root ]] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[[ -z $root ]] || find "$root" -mindepth 1 -type d -printf "$1" 2>/dev/null | sort -u
}

_spoorctl_captures()
{
	local connect=() i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in --socket) connect=(--socket "${COMP_WORDS[i + 1]}") ;; esac
	done
	spoorctl "${connect[@]}" captures 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }'
}

_spoorctl()
{
	local commands='status capture captures stop keep dump list sync rotate vacuum reload monitor'
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
		_spoorctl_offer <<<$'fp\nauto\ndwarf\nnone'
		return
		;;
	-p | --pid | -t | --tid)
		_spoorctl_offer < <(ps -eo pid= 2>/dev/null | tr -d ' ')
		return
		;;
	-G | --cgroup)
		compopt -o filenames 2>/dev/null
		_spoorctl_offer < <(_spoorctl_cgroups '%P\n')
		return
		;;
	--unit)
		_spoorctl_offer < <(_spoorctl_cgroups '%f\n' | grep -E '\.(service|scope|slice|socket|mount)$')
		return
		;;
	--slice)
		_spoorctl_offer < <(_spoorctl_cgroups '%f\n' | grep '\.slice$')
		return
		;;
	--since | --until)
		_spoorctl_offer <<<$'now\ntoday\nyesterday\n10m\n1h'
		return
		;;
	--duration | -F | --frequency | -c | --period | -C | --cpu | -l | --label | --max-* | -n | --interval)
		return
		;;
	-e | --event)
		_spoorctl_offer <<<$'cycles\ninstructions\ncache-misses\nbranch-misses\ncpu-clock\npage-faults\ncontext-switches'
		return
		;;
	esac
	options='--socket --json --help'
	case $command:$cur in
	stop:[!-]* | stop:)
		_spoorctl_offer < <(_spoorctl_captures)
		return
		;;
	:*) options="$options --version $commands" ;;
	capture:*)
		options="$options --duration --frequency --period --event --pid --tid --cgroup --unit --slice --cpu --call-graph --max-stack --user-callchains
			--kernel-callchains --all-user --all-kernel --no-inherit --switch-events --skip-missing --pack --output"
		;;
	keep:*) options="$options --since --until --label" ;;
	vacuum:*) options="$options --max-use --max-age --max-segments" ;;
	monitor:*) options="$options --interval" ;;
	esac
	_spoorctl_offer <<<"${options// /$'\n'}"
}
complete -F _spoorctl spoorctl
