# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of what members of the control group may do, after lib.sh and daemon.sh:
# . "$TOP/tests/members.sh". They are users of any number, and their files are in $TMP/theirs.
group=

# FILE...: these, and spoorctl, are in $TMP for everybody. The rest of the configuration comes from
# standard input.
need_members()
{
	need_command jq setpriv
	need_record_all
	[ "$(id -u)" -eq 0 ] || skip_all "becoming somebody else needs root"
	group=$(getent group daemon | cut -d: -f3)
	[ -n "$group" ] || skip_all "no group daemon"
	mkdir archive
	mkdir -m 777 theirs
	chmod 755 "$TMP"
	cp "$BUILD/spoorctl" "$@" "$TMP"
	{
		echo "archive_directory = $TMP/archive"
		echo "control_socket = $socket"
		echo "control_group = daemon"
		echo "keep_free = 0"
		cat
	} >spoord.conf
}

member() # UID COMMAND...: in theirs/
{
	local uid=$1

	shift
	(cd theirs && exec setpriv --reuid "$uid" --regid "$uid" --groups "$group" "$@")
}

capture() # UID ARGUMENT...
{
	local uid=$1

	shift
	member "$uid" "$TMP/spoorctl" --socket "$socket" capture "$@"
}
