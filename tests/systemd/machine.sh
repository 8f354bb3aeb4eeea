# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A machine to install into: a minimal Debian (or Ubuntu) of this host's release with systemd,
# booted in a container. For tests/systemd/*.t, after lib.sh:
#
#   machine_make || skip_all "$machine_why"      the tree in $machine, not booted
#   machine_install; machine_boot; machine COMMAND...; status FILTER; journal; machine_halt
#
# The tree is kept (debootstrap.sh); what a test changes lies in an overlay of its own.

. "$TOP/tests/debootstrap.sh"
machine=
machine_why=
machine_pid=
machine_leader=

# Packages of the libraries that the programs are linked with, as they are called here.
machine_libraries()
{
	ldd "$BUILD/spoor" "$BUILD/spoord" "$BUILD/spoorctl" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
		sort -u | while read -r library; do
		dpkg -S "$library" 2>/dev/null || dpkg -S "$(realpath "$library")" 2>/dev/null ||
			dpkg -S "/usr$library" 2>/dev/null
	done | sed 's/:.*//' | sort -u | paste -sd,
}

machine_make()
{
	local codename libraries base packages

	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	libraries=$(machine_libraries)
	base=$SPOOR_MACHINES/$codename
	packages=systemd,systemd-sysv,dbus,procps,man-db,python3-minimal,$libraries
	if ! debootstrap_possible systemd-nspawn nsenter ||
		! debootstrap_tree "$base" "$codename" "$packages" --include="$packages"; then
		machine_why=$debootstrap_why
		return 1
	fi
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

machine_install() # what was built, before the machine boots; ends the test where that fails
{
	# shellcheck disable=SC2086 # a command and its options
	env -u MAKEFLAGS -u MFLAGS ${MAKE:-make} -s -C "$TOP" BUILD="$BUILD" DESTDIR="$machine" PREFIX=/usr \
		install >install.log 2>&1 || { diag_file install.log; fail "make install"; exit 1; }
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

status() # FILTER: of the service's status
{
	machine spoorctl status --json 2>/dev/null | jq -r ".$1"
}

journal() # of the service
{
	machine journalctl -o cat -u spoord.service 2>/dev/null
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
