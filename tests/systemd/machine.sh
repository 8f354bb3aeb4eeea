# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A machine to install into: a minimal Debian (or Ubuntu) of this host's release with systemd,
# booted in a container. For tests/systemd/*.t, after lib.sh:
#
#   machine_make || skip_all "$machine_why"      the tree in $machine, not booted
#   machine_boot; machine COMMAND...; machine_halt
#
# The tree is made once by debootstrap and kept in $SPOOR_MACHINES; what a test changes lies in
# an overlay of its own.

SPOOR_MACHINES=${SPOOR_MACHINES:-/var/cache/spoor-test}
machine=
machine_why=
machine_pid=
machine_leader=

# The mirror that this host's own packages come from.
machine_mirror() # CODENAME
{
	apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		awk -v want="$1" '$1 == want { print $2; exit }'
}

# Packages of the libraries that the programs are linked with, as they are called here.
machine_libraries()
{
	ldd "$BUILD/spoor" "$BUILD/spoord" "$BUILD/spoorctl" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
		sort -u | while read -r library; do
		dpkg -S "$library" 2>/dev/null || dpkg -S "$(realpath "$library")" 2>/dev/null ||
			dpkg -S "/usr$library" 2>/dev/null
	done | sed 's/:.*//' | sort -u | paste -sd,
}

machine_base() # sets $base
{
	local codename mirror libraries part

	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	base=$SPOOR_MACHINES/$codename
	libraries=$(machine_libraries)
	[ "$(cat "$base/.complete" 2>/dev/null)" != "$libraries" ] || return 0
	mirror=$(machine_mirror "$codename")
	[ -n "$mirror" ] || { machine_why="no mirror of $codename is configured"; return 1; }
	part=$base.part
	rm -rf --one-file-system "$part" "$base"
	mkdir -p "$SPOOR_MACHINES"
	diag "debootstrap $codename from $mirror"
	if ! debootstrap --variant=minbase --include="systemd,systemd-sysv,dbus,procps,man-db,$libraries" \
		"$codename" "$part" "$mirror" >"$SPOOR_MACHINES/debootstrap.log" 2>&1; then
		diag_file "$SPOOR_MACHINES/debootstrap.log"
		machine_why="debootstrap failed"
		return 1
	fi
	echo "$libraries" >"$part/.complete"
	mv "$part" "$base"
}

machine_make()
{
	local base

	[ "$(id -u)" -eq 0 ] || { machine_why="not root"; return 1; }
	for command in systemd-nspawn debootstrap nsenter; do
		command -v $command >/dev/null || { machine_why="there is no $command"; return 1; }
	done
	machine_base || return 1
	at_exit machine_remove
	mkdir -p "$TMP/machine"
	# A tmpfs, because an overlay on an overlay is not always possible.
	if ! mount -t tmpfs -o mode=755,size=1G spoor-test "$TMP/machine" ||
		! mkdir "$TMP/machine/upper" "$TMP/machine/work" "$TMP/machine/root" ||
		! mount -t overlay overlay -o \
			"lowerdir=$base,upperdir=$TMP/machine/upper,workdir=$TMP/machine/work" \
			"$TMP/machine/root"; then
		machine_why="no overlay can be mounted"
		return 1
	fi
	machine=$TMP/machine/root
}

machine_boot()
{
	local i

	systemd-nspawn --quiet --boot --register=no --keep-unit --capability=all \
		--system-call-filter=perf_event_open --resolv-conf=off --timezone=off \
		--link-journal=no --machine="spoor-test-$$" --console=pipe \
		--directory="$machine" >"$TMP/machine.log" 2>&1 </dev/null &
	machine_pid=$!
	for ((i = 0; i < 300; i++)); do
		sleep 0.2
		kill -0 "$machine_pid" 2>/dev/null || break
		machine_leader=$(pgrep -P "$machine_pid" | head -n 1)
		[ -n "$machine_leader" ] || continue
		case $(machine systemctl is-system-running 2>/dev/null) in
		running | degraded) return 0 ;;
		esac
	done
	diag_file "$TMP/machine.log"
	return 1
}

machine() # COMMAND...: runs it in there, as root
{
	nsenter -t "$machine_leader" -a -- /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
		SYSTEMD_PAGER= "$@" </dev/null
}

machine_halt()
{
	local i

	[ -n "$machine_pid" ] || return 0
	machine systemctl poweroff >/dev/null 2>&1
	for ((i = 0; i < 150; i++)); do
		kill -0 "$machine_pid" 2>/dev/null || break
		sleep 0.2
	done
	kill -KILL "$machine_pid" 2>/dev/null
	wait "$machine_pid" 2>/dev/null
	machine_pid=
}

machine_remove()
{
	machine_halt
	umount -l "$TMP/machine/root" "$TMP/machine" 2>/dev/null
}
