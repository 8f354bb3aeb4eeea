#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Completion for bash and zsh: sort keys, fields, events, control groups and IDs of captures, as the
# programs take them.
# shellcheck disable=SC2034,SC1091,SC2016
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq awk
PATH=$BUILD:$PATH
. "$TOP/completions/spoor.bash"
. "$TOP/completions/spoorctl.bash"

offers() # WORD...: what bash offers for the last one
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_$1"
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd' '
}

# --- words

is "$(offers spoor re)" "record report" "commands"
is "$(offers spoor report --perc)" "--percent-limit --percentage" "options of a command"
is "$(offers spoor report -s c)" "cgroup cgroup_id code_page_size comm cpu cycles" "sort keys"
is "$(offers spoor report --sort = comm,c)" "comm,cgroup comm,cgroup_id comm,code_page_size comm,cpu comm,cycles" "the next of a list, as bash takes it apart"
is "$(offers spoor report -s +un)" "+unit" "one more"
is "$(offers spoor report -F o)" "overhead overhead_children" "fields"
is "$(offers spoor record -F o)" "" "which a frequency is not"
is "$(offers spoor report -g fractal,call)" "fractal,callee fractal,caller" "what call graphs are of"
is "$(offers spoor report --percentage '')" "absolute relative" "--percentage"
is "$(offers spoor export -f perf)" "perf-data perf-data-file perf-script" "formats"
is "$(offers spoor record --call-graph '')" "auto dwarf fp none" "call graphs"
is "$(offers spoorctl st)" "status stop" "commands of spoorctl"
touch empty.file
is "$(offers spoor report em)" "empty.file" "files"

# As the programs take them: each key is one, and there is no other.
for key in $(offers spoor report -F ''); do
	"$SPOOR" report -F "$key" empty.file >/dev/null 2>&1
	[ $? -eq 1 ] || echo "$key"
done >bad
is "$(cat bad)" "" "all fields are fields"
is "$(offers spoor report -F '' | wc -w)" \
	"$("$SPOOR" report -F x 2>&1 | sed 's/.*fields are //; s/ (.*//' | wc -w)" "and all are there"
is "$(offers spoor report -s '' | wc -w)" \
	"$("$SPOOR" report -s x 2>&1 | sed 's/.*keys are //; s/ (.*//' | wc -w)" "as are all keys"
for format in $(offers spoor export -f ''); do
	"$SPOOR" export -f "$format" empty.file >/dev/null 2>&1
	[ $? -eq 1 ] || echo "$format"
done >bad
is "$(cat bad)" "" "all formats are formats"
for event in $(offers spoor record -e '' | tr ' ' '\n' | grep -v '[:/]') $(offers spoorctl capture -e ''); do
	"$SPOOR" record -e "$event" -o x.spoor -- true >/dev/null 2>&1
	[ $? -ne 2 ] || echo "$event"
done >bad
is "$(cat bad)" "" "all events are events"
if [ -d /sys/kernel/tracing/events/sched/sched_switch ]; then
	is "$(offers spoor record -e cycles,sched : sched_swi)" "sched_switch" "tracepoints, as bash takes them apart"
else
	skip "no tracepoints can be seen here"
fi

# --- what is here

if "$SPOOR" record -e cpu-clock:u -o here.spoor -- "$FIXTURES/burn" 50 >/dev/null 2>&1; then
	is "$(offers spoor report -i here.spoor --event '')" "cpu-clock:u" "the events of a recording"
	mv here.spoor recording.spoor
	is "$(offers spoor dump --event cpu-clock : '')" "u" "of the one that is read by default"
else
	skip "nothing can be recorded here" 2
fi
root=$(cgroup_root)
top=spoor-test.$$
evil='$(touch hacked)'
if [ -n "$root" ] && mkdir "$root/$top" 2>/dev/null; then
	at_exit "find '$root/$top' -depth -type d -exec rmdir {} + 2>/dev/null"
	mkdir "$root/$top/a.service" "$root/$top/$evil" "$root/$top/$top-b.service" "$root/$top/$top.slice"
	is "$(offers spoor record --cgroup "$top/a")" "$top/a.service" "control groups to record"
	is "$(offers spoorctl capture --cgroup "$top/a")" "$top/a.service" "or to capture"
	is "$(offers spoor report --cgroup "/$top/a")" "/$top/a.service" "and of a report"
	is "$(offers spoor report --cgroup "x,a.serv")" "x,a.service" "by their last name, too"
	is "$(offers spoor record --unit "$top")" "$top-b.service $top.slice" "units to record"
	is "$(offers spoor record --slice "$top")" "$top.slice" "slices"
	is "$(offers spoorctl capture --unit "$top-")" "$top-b.service" "units to capture"
	is "$(offers spoorctl capture --slice "$top")" "$top.slice" "slices"
	is "$(offers spoor report --unit "x,$top-")" "x,$top-b.service" "and of a report"
	is "$(offers spoor report --slice "x,$top")" "x,$top.slice" "likewise"
	is "$(offers spoor report --cgroup "/$top/\$")" "/$top/$evil" "whatever they are called"
	nok "and nothing of that is run" test -e hacked
else
	skip "no control group can be made here" 12
fi

# --- captures of a daemon

if can_record_all; then
	printf '%s\n' "archive_directory = $TMP/archive" "control_socket = $socket" "keep_free = 0" >spoord.conf
	mkdir archive
	start
	wait_for 20 ctl status || { diag_file log; bail "spoord does not come up"; }
	is "$(offers spoorctl --socket "$socket" stop '')" "" "no capture runs"
	background ctl capture --duration 1m >/dev/null 2>&1
	ok "one begins" wait_for 20 sh -c '"$BUILD/spoorctl" --socket socket captures --json | jq -es ".[0].captures | length == 1"'
	id=$(ctl captures --json | jq '.captures[0].id')
	is "$(offers spoorctl --socket "$socket" stop '')" "$id" "its ID"
else
	skip "sampling all CPUs needs a privilege" 3
	id=
fi

# --- zsh: what a Tab makes of a line

if ! command -v zsh >/dev/null; then
	skip "zsh is not installed" 12
	done_testing
	exit
fi
cat >tab.zsh <<'ZSH'
zmodload zsh/zpty
zpty z "env TERM=dumb zsh -f -i"
zpty -w z 'PS1= RPS1= fpath=($TOP/completions $fpath)
autoload -U compinit; compinit -D -u
show() { print -r -- "<$BUFFER>"; zle kill-whole-line }; zle -N show; bindkey "^X" show; print REA""DY'
zpty -r -m z out '*READY*'
for line; do
	zpty -w -n z $line$'\t\x18'
	zpty -r -m z out '*<*>*'
	print -r -- ${${out##*\<}%%\>*}
done
zpty -d z
ZSH
tab() # LINE...
{
	timeout 60 zsh -f tab.zsh "$@" | sed 's/ *$//'
}
is "$(tab 'spoor rep')" "spoor report" "zsh: commands"
is "$(tab 'spoor report --percenta')" "spoor report --percentage" "zsh: options"
is "$(tab 'spoor report -s comm,un')" "spoor report -s comm,unit" "zsh: sort keys"
is "$(tab 'spoor report --sort=+un')" "spoor report --sort=+unit" "zsh: one more"
is "$(tab 'spoor report -F sample,per')" "spoor report -F sample,period" "zsh: fields"
is "$(tab 'spoor record -e context')" "spoor record -e context-switches" "zsh: events"
if [ -d "$root/$top" ]; then
	is "$(tab "spoor record --cgroup $top/a")" "spoor record --cgroup $top/a.service" "zsh: control groups"
	is "$(tab "spoorctl capture --cgroup $top/a")" "spoorctl capture --cgroup $top/a.service" "zsh: to capture"
	is "$(tab "spoor record --slice $top")" "spoor record --slice $top.slice" "zsh: slices"
	is "$(tab "spoorctl capture --unit $top-")" "spoorctl capture --unit $top-b.service" "zsh: units"
	is "$(tab "spoorctl capture --slice $top")" "spoorctl capture --slice $top.slice" "zsh: slices to capture"
else
	skip "no control group can be made here" 5
fi
if [ -n "$id" ]; then
	is "$(tab "spoorctl --socket $socket stop ")" "spoorctl --socket $socket stop $id" "zsh: the ID of a capture"
	stop
else
	skip "sampling all CPUs needs a privilege"
fi

done_testing
