# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of spoord against local users, after lib.sh and daemon.sh: . "$TOP/tests/attack.sh".
# The attacks (attack_*, each in the background until attack_end), and what has to hold beside them
# (hold_*). spoord runs in a control group of 128 MiB where one can be made.
#
# Nothing is left: a task that an attack holds up hangs every process that looks at it. The task ends
# with its attacker, who ends with the shell that started it, also when that is killed: silent_fs.c.

# shellcheck disable=SC2154 # spoord, socket and pid are of daemon.sh
attackers=(64001 64002 64003 64004) # users who have no name and nothing else here
memory_max=$((128 * 1024 * 1024))
archive=$TMP/archive
memory_group=
watcher=
attack_pids=()
attack_groups=()
fuse=$TMP/fuse-device

need_attacks()
{
	[ "$(id -u)" -eq 0 ] || skip_all "attackers are other users: this needs root"
	need_command jq python3 setpriv taskset
	need_record_all
	mkdir bin "$archive"
	chmod 711 "$TMP"
	cp "$FIXTURES"/{burn,silent_fs,silent_user,map_flood,cgroup_flood,many_groups} bin || bail "no fixtures"
	at_exit attack_end
	at_exit watch_end
	limit_memory
}

# Not every machine lets everybody have /dev/fuse, as distributions do.
need_fuse()
{
	local dir=$TMP/probe

	mknod -m 666 "$fuse" c 10 229 || skip_all "no device can be made"
	user_dir "${attackers[0]}" "$dir"
	(as_user "${attackers[0]}" bin/silent_fs "$fuse" "$dir" /bin/true open cmp overlay/0 /bin/true) >probe.out 2>&1 ||
		skip_all "no FUSE with an overlay in a user namespace: $(tail -n 1 probe.out)"
}

# Kills, not exits: who waits for memory writes no file.
limit_memory()
{
	local root name=spoor-test.$$ limit=memory.max

	root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	[ -z "$root" ] || limit=memory.limit_in_bytes
	[ -n "$root" ] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || return 0
	[ $limit = memory.limit_in_bytes ] || echo +memory >"$root/cgroup.subtree_control" 2>/dev/null
	mkdir "$root/$name" 2>/dev/null || return 0
	if ! echo $memory_max >"$root/$name/$limit" 2>/dev/null; then
		rmdir "$root/$name"
		return 0
	fi
	memory_group=$root/$name
	at_exit limit_end
	printf '#!/bin/sh\necho $$ >"%s/cgroup.procs"\nexec "$@"\n' "$memory_group" >bin/limited
	printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$TMP/bin/limited" "$spoord" >bin/spoord
	chmod 755 bin/limited bin/spoord
	spoord=$TMP/bin/spoord
}

memory_kills() # processes of the group that the kernel has killed for want of memory; 0 without such a group
{
	[ -n "$memory_group" ] || echo 0
	cat "$memory_group"/memory.oom_control "$memory_group"/memory.events 2>/dev/null | awk '/^oom_kill / { print $2 }'
}

limit_end()
{
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	wait_for 5 rmdir "$memory_group"
}

limited() # COMMAND...: a process in the same control group; to be started in the background
{
	[ -z "$memory_group" ] || echo $BASHPID >"$memory_group/cgroup.procs"
	exec "$@"
}

config() # LINE...: what is not as in most tests
{
	{
		echo "archive_directory = $archive"
		echo "control_socket = $socket"
		echo "control_group = root"
		echo "frequency = 99"
		echo "max_use = 64M"
		echo "keep_free = 1"
		echo "block_age = 1s"
		printf '%s\n' "$@"
	} | awk '{ line[$1] = $0 } END { for (key in line) print line[key] }' >spoord.conf
}

# --- attacks -----------------------------------------------------------------------------------

as_user() # UID COMMAND...: takes the place of the shell
{
	local uid=$1
	shift
	exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
}

user_dir() # UID DIR: the user's own, and empty
{
	rm -rf "$2"
	mkdir -m 755 "$2" && chown "$1:$1" "$2"
}

begin() # UID COMMAND...: returns once the attack has begun
{
	local out=$TMP/attack.${#attack_pids[@]}

	: >"$out"
	as_user "$@" >"$out" 2>&1 &
	attack_pids+=("$!")
	wait_for 120 grep -q ready "$out" || { diag_file "$out"; bail "an attack does not begin: $*"; }
}

# Kills of a file system's server set free who waits for it.
attack_end()
{
	local p

	for p in ${attack_pids[@]+"${attack_pids[@]}"}; do
		kill -TERM "$p" 2>/dev/null
	done
	for p in ${attack_pids[@]+"${attack_pids[@]}"}; do
		wait "$p" 2>/dev/null
	done
	# The children of those, too: to give back 65,000 maps takes a while.
	[ ${#attack_pids[@]} -eq 0 ] ||
		wait_for 20 eval '[ -z "$(processes "uid >= 64001 && uid <= 64004")" ]'
	for p in ${attack_groups[@]+"${attack_groups[@]}"}; do
		find "$p" -depth -type d -exec rmdir {} +
	done
	attack_pids=()
	attack_groups=()
}

attack_silent_fs() # OPERATIONS: files of an overlay are mapped of which nobody will ever know more
{
	user_dir "${attackers[0]}" "$TMP/fs"
	begin "${attackers[0]}" bin/silent_fs "$fuse" "$TMP/fs" /bin/true "$1" "$TMP/bin/silent_user" map 100 600
}

captures=()
capture_four() # DURATION: at once, into 1.spoor to 4.spoor
{
	local i

	captures=()
	for i in 1 2 3 4; do
		ctl capture --duration "$1" -F 500 -o "$TMP/$i.spoor" >"$i.out" 2>&1 &
		captures+=("$!")
	done
}

attack_passers_by() # MOUNTS: each is mapped once, by a process that is gone when nobody answers
{
	local i

	for i in $(seq "$1"); do
		user_dir "${attackers[0]}" "$TMP/fs.$i"
		begin "${attackers[0]}" bin/silent_fs "$fuse" "$TMP/fs.$i" /bin/true open "$TMP/bin/silent_user" pass 1 600
		sleep 2.5
	done
}

attack_stuck_exec() # 16 tasks of four users, each in an exec that does not end
{
	local uid dir

	for uid in "${attackers[@]}"; do
		dir=$TMP/exec.$uid
		user_dir "$uid" "$dir"
		cp bin/burn "$dir/program"
		begin "$uid" bin/silent_fs "$fuse" "$dir" /bin/true flush \
			"$TMP/bin/silent_user" exec 4 600 "$dir/program"
	done
}

flood() # UID FILES MAPS PROCESSES FORKS: see map_flood.c
{
	local dir=$TMP/maps.$1.${#attack_pids[@]}

	user_dir "$1" "$dir"
	begin "$1" bin/map_flood "$dir" "${@:2}" 600
}

attack_maps() # 8 processes of 65,000 maps
{
	flood "${attackers[0]}" 1 65000 8 0
}

attack_forks() # 65,000 maps, which 70 processes have
{
	flood "${attackers[1]}" 1 65000 1 70
}

attack_cgroups() # control groups come and go where a user may make them
{
	local uid=${attackers[2]} root

	root=$(cgroup_root)
	[ -n "$root" ] || return 0
	attack_groups+=("$root/spoor-attack.$$")
	mkdir "${attack_groups[-1]}" && chown "$uid:$uid" "${attack_groups[-1]}"
	begin "$uid" bin/cgroup_flood "${attack_groups[-1]}" 600
	begin "$uid" bin/cgroup_flood "${attack_groups[-1]}" 600
}

attack_state() # 8,100 maps of 300 files with long names, which 61 processes have: gigabytes, each by itself
{
	flood "${attackers[3]}" 300 8100 1 60
}

attack_history() # 300 files with long names are mapped on and on
{
	flood "${attackers[3]}" 300 0 1 0
}

attack_groups() # 100 processes with 65,536 groups each map new files
{
	begin 0 bin/many_groups "${attackers[0]}" 100 600
}

attack_storm() # processes that fork and execute
{
	# shellcheck disable=SC2016 # the user's shell expands it
	begin "${attackers[0]}" timeout 600 sh -c 'echo ready; trap "kill 0" TERM
		for i in 1 2; do while :; do /bin/true; done & done; wait'
}

# With what never waits: pgrep and ps read /proc/PID/stat, which does where the task is in an exec (Linux 6.18).
processes() # AWK-CONDITION: pids, by name, pid, ppid and uid
{
	cat /proc/[0-9]*/status 2>/dev/null | awk "/^Name:/ { name = \$2 } /^Pid:/ { pid = \$2 } /^PPid:/ { ppid = \$2 }
		/^Uid:/ { uid = \$2; if ($1) print pid }"
}

# --- a victim ----------------------------------------------------------------------------------

busy() # NAME MS: so much CPU time, in a program of this name
{
	[ -e "bin/$1" ] || cp bin/burn "bin/$1"
	# Not with a share of the CPU that attackers choose: samples are compared with CPU time.
	nice -n -10 taskset -c 0 "bin/$1" "$2" >>"$1.out"
}

# By its pids, and the name, or one from before its exec: that COMM may be lost by the kernel.
samples_of() # RECORDING NAME
{
	local script=${0##*/}

	# Of an hour of storms it takes minutes on a busy machine.
	"$SPOOR" report --json --sort pid,comm "$1" 2>report.err |
		jq "[.rows[] | select((.pid | IN($(pids_of "$2"))) and
			(.comm | IN(\"$2\", \"taskset\", \"nice\", \"bash\", \"${script:0:15}\"))) | .samples] | add // 0"
}

pids_of() # NAME: of all that were busy under this name
{
	awk 'NR % 2 { print $1 }' "$1.out" | paste -sd,
}

ms_of() # NAME: CPU time that it has used
{
	# The pid, then the time.
	awk 'NR % 2 == 0 { ms += $1 } END { print ms }' "$1.out"
}

# Samples a second of CPU time, under attack to without.
hold_samples() # RECORDING NAME: of the programs "calm" and "hit"
{
	local calm hit

	calm=$(samples_of "$1" calm)
	hit=$(samples_of "$1" hit)
	diag "calm: ${calm:-0} samples in $(ms_of calm) ms; hit: ${hit:-0} in $(ms_of hit) ms"
	in_range "${calm:-0}" 100 1e9 "$2: samples without an attack"
	in_range "$(awk -v c="${calm:-0}" -v h="${hit:-0}" -v cm="$(ms_of calm)" -v hm="$(ms_of hit)" \
		'BEGIN { if (c && cm && hm) printf "%.1f", h / hm / (c / cm) * 100 }')" 95 200 \
		"$2: at least 95 % of them under attack"
}

# --- what is watched all the while -------------------------------------------------------------

ask() # SECONDS ARGUMENT...: of spoorctl, of which none is waited for longer
{
	timeout -k 1 "$1" "$BUILD/spoorctl" --socket "$socket" "${@:2}" 2>/dev/null
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

rss_all() # KiB of the daemon and its helpers
{
	local pids

	pids=$([ -z "$memory_group" ] || cat "$memory_group/cgroup.procs")
	# shellcheck disable=SC2086 # a list of pids
	for p in ${pids:-$pid $(processes "ppid == $pid")}; do
		cat "/proc/$p/status" 2>/dev/null
	done | awk '/^VmRSS/ { kib += $2 } END { print kib + 0 }'
}

# Until the file "enough" is there: the most memory, how late status was answered (status_wait.py), the lowest frequency.
watch_daemon()
{
	local took rss hz most=0 latest=0 asked=0 lowest=99 seen=0

	# A test that is killed leaves nobody who says that it is enough.
	while [ ! -e enough ] && kill -0 $$ 2>/dev/null; do
		rss=$(rss_all)
		[ "$rss" -le "$most" ] || most=$rss
		if [ $((seen++ % 5)) -eq 0 ]; then
			# Before the first answer it may not listen yet; how long that takes is for records().
			if read -r took hz < <(python3 "$TOP/tests/varlink/status_wait.py" "$socket" "$pid" 2>/dev/null); then
				asked=$((asked + 1))
				[ "$hz" -ge "$lowest" ] || lowest=$hz
			else
				took=9999
			fi
			[ "$took" -le "$latest" ] || [ $asked -eq 0 ] || latest=$took
		fi
		echo "$most $latest $asked $lowest" >watched.new && mv watched.new watched
		sleep 0.1
	done
}

watch()
{
	rm -f enough watched
	watch_daemon &
	watcher=$!
}

watch_end()
{
	[ -z "$watcher" ] || { touch enough && wait "$watcher"; }
	watcher=
}

hold_watched() # NAME
{
	local most latest asked lowest

	watch_end
	read -r most latest asked lowest <watched
	diag "RSS $most KiB at most; status asked $asked times, answered within $latest ms; $lowest Hz at least"
	in_range "$most" 1 $((memory_max / 1024)) "$1: 128 MiB at most, in KiB"
	in_range "$asked" 1 1e9 "$1: status was asked for"
	in_range "$latest" 0 1000 "$1: and was answered within a second, in ms"
	is "$lowest" 99 "$1: what samples do not cost does not lower their frequency"
}

attacked() # LINE...: spoord records, with this in its configuration, and a log of its own
{
	config "$@"
	: >log
	ok "spoord records" records 20000
}

records() # MS [COMMAND...]: start, then COMMAND, and record within so many milliseconds
{
	local begun limit=$1

	begun=$(now_ms)
	start
	"${@:2}"
	until [ "$(ask 1 --json status | jq -r .samples)" -gt 0 ] 2>/dev/null; do
		[ $(($(now_ms) - begun)) -lt "$limit" ] || return 1
		sleep 0.05
	done
	diag "recording after $(($(now_ms) - begun)) ms"
}

# No wait: one that is stuck in the kernel is a zombie until the attack ends. With kill -9 the
# last block_age of samples is gone, which are counted later.
hold_restart() # NAME [COMMAND...]: with COMMAND once it is started
{
	ok "$1: what there is is on disk" ask 10 sync
	kill -KILL "$pid" 2>/dev/null
	mv log log.killed
	: >log
	ok "$1: after kill -9 a new one records within 3 s" records 3000 "${@:2}"
}

hold_log() # UID NAME: said once of this user
{
	local said="(user|uid) $1\\b"

	wait_for 10 grep -Eq "$said" log
	is "$(grep -Ec "$said" log)" 1 "$2"
	[ "$(grep -Ec "$said" log)" = 1 ] || diag_file log
}

hold_told() # UID NAME: in the status, and in the ledgers of the recordings
{
	like "$(ask 10 status)" "\\b$1\\b" "$2: the status tells"
	find "$archive" -name '*.spoor*' -exec timeout 60 "$SPOOR" info {} \; >ledgers 2>&1
	like "$(cat ledgers)" "\\b$1\\b" "$2: the ledger tells"
}

# "history": the segments that were sealed before.
history_begin()
{
	for _ in 1 2 3; do
		ctl rotate >/dev/null || bail "no rotation"
	done
	find "$archive" -maxdepth 1 -name '*.spoor' -printf '%f\n' | sort >history
	[ -s history ] || bail "no segment"
}

hold_history() # NAME
{
	local f gone=0

	while read -r f; do
		[ -e "$archive/$f" ] || gone=$((gone + 1))
	done <history
	is "$gone of $(wc -l <history)" "0 of $(wc -l <history)" "$1: no old segment is gone"
}

hold_once() # spoor record, 4 s under the attack that goes on, which ends then
{
	local recorder hit ns used

	rm -f hit.out
	[ -e bin/hit ] || cp bin/burn bin/hit
	limited "$SPOOR" record -a -F 99 --duration 4s -o once.spoor >record.out 2>&1 &
	recorder=$!
	background_pids+=("$recorder")
	(exec nice -n -10 taskset -c 0 bin/hit 60000 >>hit.out) &
	hit=$!
	# The CPU time that it has had, at which time.
	for _ in {1..200}; do
		kill -0 "$recorder" 2>/dev/null || break
		read -r ns _ <"/proc/$hit/schedstat"
		echo "${EPOCHREALTIME/./} $((ns / 1000))"
		sleep 0.1
	done >hit.used
	ok "spoor record ends when its time is over" eval "! kill -0 $recorder 2>/dev/null"
	kill "$hit"
	wait "$hit"
	attack_end
	# In ms, from the first sample to the last one.
	used=$("$SPOOR" info --json once.spoor | jq -r '(.start_realtime_ns - .start_monotonic_ns) as $zero |
		"\((.start_ns + $zero) / 1000) \((.end_ns + $zero) / 1000)"' |
		awk 'NR == 1 { from = $1; until = $2; next } $1 >= from && $1 <= until { if (!n++) first = $2; last = $2 }
			END { printf "%d", (last - first) / 1000 }' - hit.used)
	in_range "$used" 300 1e9 "a program was busy meanwhile, in ms"
	in_range "$(samples_of once.spoor hit)" $((99 * used * 80 / 100000)) 1e9 "and has its samples"
}
