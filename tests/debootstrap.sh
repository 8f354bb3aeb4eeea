# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Trees of Debian and Ubuntu releases, made by debootstrap once and kept in $SPOOR_MACHINES, to run
# (root.sh) or to boot (systemd/machine.sh).

SPOOR_MACHINES=${SPOOR_MACHINES:-/var/cache/spoor-test}
debootstrap_why= # after a failure; what debootstrap said is in $SPOOR_MACHINES/debootstrap.log

# Whose release is it? Those of Ubuntu are links to one script.
debootstrap_origin() # CODENAME
{
	local script

	script=$(realpath -m "${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts/$1")
	[ "${script##*/}" = gutsy ] && echo Ubuntu || echo Debian
}

# The mirror of a release: the one that this host's own packages come from, or those of another
# release of the same distribution, or else the one for everybody.
debootstrap_mirror() # CODENAME
{
	local targets='$(CODENAME) $(REPO_URI)' origin

	origin=$(debootstrap_origin "$1")
	{
		apt-get indextargets --format "$targets" 'Created-By: Packages' | sed -n "s/^$1 //p"
		apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Origin: $origin" "Label: $origin"
		case $origin in
		Ubuntu) echo http://archive.ubuntu.com/ubuntu ;;
		*) echo http://deb.debian.org/debian ;;
		esac
	} 2>/dev/null | head -n 1
}

# May a tree be made and entered here?
debootstrap_possible() # COMMAND...: what is needed to enter it
{
	local command

	[ "$(id -u)" -eq 0 ] || { debootstrap_why="not root"; return 1; }
	for command in debootstrap "$@"; do
		command -v "$command" >/dev/null || { debootstrap_why="there is no $command"; return 1; }
	done
}

# A tree that is complete, or nothing.
debootstrap_tree() # DIRECTORY CODENAME MARK [OPTION...]: made anew unless $DIRECTORY/.complete is MARK
{
	local base=$1 codename=$2 mark=$3 mirror said log=$SPOOR_MACHINES/debootstrap.log

	shift 3
	[ "$(cat "$base/.complete" 2>/dev/null)" != "$mark" ] || return 0
	mirror=$(debootstrap_mirror "$codename")
	rm -rf --one-file-system "$base.part" "$base"
	mkdir -p "$SPOOR_MACHINES"
	echo "# debootstrap $codename from $mirror" >&2
	if ! debootstrap --variant=minbase "$@" "$codename" "$base.part" "$mirror" >"$log" 2>&1; then
		said=$(sed -n 's/^E: //p' "$log" | head -n 1)
		debootstrap_why="debootstrap has no $codename: ${said:-it failed} ($log)"
		case $said in
		*"getting release file"*)
			debootstrap_why="the mirror of $codename is out of reach: $said"
			;;
		esac
		return 1
	fi
	echo "$mark" >"$base.part/.complete"
	mv "$base.part" "$base"
}
