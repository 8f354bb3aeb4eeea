/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify: sd_notify(3), the watchdog's interval and socket activation, without libsystemd:
 * the protocol is stable and its manual says how.
 */
#ifndef DAEMON_PROCESS_NOTIFY_H
#define DAEMON_PROCESS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/* "READY=1\nSTATUS=..."; does nothing when nobody waits (no NOTIFY_SOCKET). 0, -errno. */
int notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t notify_watchdog_ns(void); /* 0: none is kept on us */
/* Does the service manager make this directory when it starts us (StateDirectory=)? */
bool notify_makes(const char *path);
/*
 * First descriptor passed to this process, made close-on-exec, or -1; clears the variables, which
 * nobody else may read meanwhile: call it before there is a thread.
 */
int notify_listen_fd(void);

#endif
