/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_limits: what one call of Capture may have, beside VARLINK_MESSAGE_BYTES in all. For both sides: the daemon
 * refuses what is over, and the protocol has no room to say why, so that spoorctl says it before.
 */
#ifndef DAEMON_CONTROL_CAPTURE_LIMITS_H
#define DAEMON_CONTROL_CAPTURE_LIMITS_H

#define CAPTURE_EVENTS_MAX 16	  /* strings of "events", each of one event or more */
#define CAPTURE_EVENT_BYTES 4096  /* of each, with its NUL */
#define CAPTURE_CGROUPS_MAX 16	  /* "cgroups" */
#define CAPTURE_CGROUP_BYTES 4096 /* of each, with its NUL */

#endif
