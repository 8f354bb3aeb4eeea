#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# jit_deputy: a user who may mount what he likes in namespaces of his own puts files in the place of his perf map that he
# may not read. The recorder, and root's reader, can: they read none of them for him.
. "$(dirname "$0")/../lib.sh"
need_command setpriv jq
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "not root"
user=(setpriv --reuid 64321 --regid 64321 --clear-groups)
"${user[@]}" unshare -Urm true 2>/dev/null || skip_all "no user namespaces for ordinary users here"
chmod 755 "$TMP"
cp "$FIXTURES/jit" .
mkdir -m 755 open
mkdir -m 700 closed
# It names whatever code there is.
echo "1000 7ffffffff000 secret" >closed/readable
install -m 600 closed/readable open/private
install -m 644 closed/readable open/public
install -m 644 closed/readable linked

# Share of the samples of the process that have the name, in per mille.
secret() # RECORDING [OPTION...]
{
	local recording=$1
	shift
	"$SPOOR" report --json -i "$recording" --comm jit,9,exe "$@" 2>err |
		jq '[.rows[] | select(.kernel | not)] | ([.[] | select(.symbol == "secret") | .samples] | add // 0) * 1000 /
			([.[].samples] | add) | floor'
}

# Its own namespace of mounts, where FILE is what its perf map should be. It stays until the recording is over.
cat >mounts.sh <<'SH'
touch /tmp/perf-$$.map && mount --bind "$1" /tmp/perf-$$.map && echo $$ && exec /proc/self/fd/9 none 3
SH
record() # NAME FILE
{
	# As young as the process: what is older would be of another one.
	touch open/* closed/*
	"$SPOOR" record -F 997 -a -o "$1.spoor" -- "${user[@]}" bash -c 'exec 9<"$2"
		unshare -Urm --propagation private bash "$1" "$3"; sleep 0.5' - "$TMP/mounts.sh" "$TMP/jit" "$2" >out 2>err || diag_file err
	rm -f "/tmp/perf-$(head -n 1 out).map"
	in_range "$("$SPOOR" report --json -i "$1.spoor" --comm jit,9,exe 2>/dev/null | jq '[.rows[].samples] | add // 0')" 300 100000 \
		"$1: its process ran"
	is "$(secret "$1.spoor")" 0 "$1: the recorder took no name from it"
}

record own "$TMP/open/public"
record private "$TMP/open/private"
record kmsg /proc/kmsg
record syscall /proc/self/syscall
record device /dev/zero

# A directory that he may not search, in the place of /tmp.
cat >mounts.sh <<SH
echo \$\$ >"$TMP/number" && until [ -e "$TMP/linked" ]; do sleep 0.05; done
mount --bind "\$1" /tmp && echo \$\$ && exec /proc/self/fd/9 none 3
SH
install -m 666 /dev/null number
background bash -c 'until [ -s number ]; do sleep 0.05; done; ln closed/readable "closed/perf-$(cat number).map" && echo >linked'
record directory "$TMP/closed"
ok "directory: there is such a map" test -s "closed/perf-$(cat number).map"

# Without mounts of his own root's file is good, as long as he may read it too; so an agent of root's may write it.
agent() # MODE
{
	"$SPOOR" record -F 997 -o "agent-$1.spoor" -- "${user[@]}" bash -c 'echo $$ >&9; until [ -e "$1" ]; do sleep 0.05; done
		exec "$2" none' - "$TMP/go-$1" "$TMP/jit" 9>"pid-$1" >out 2>err &
	wait_for 60 test -s "pid-$1"
	install -m "$1" closed/readable "/tmp/perf-$(cat "pid-$1").map"
	at_exit "rm -f /tmp/perf-$(cat "pid-$1").map"
	touch "go-$1"
	wait $!
	rm -f "/tmp/perf-$(cat "pid-$1").map"
}
agent 644
in_range "$(secret agent-644.spoor)" 900 1000 "what root wrote for him is believed if he may read it"
agent 600
is "$(secret agent-600.spoor)" 0 "and not if he may not"

done_testing
