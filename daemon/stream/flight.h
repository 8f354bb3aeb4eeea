/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight: the flight recorder beside the base stream (flight_recorder = 10s @ 999): a session whose samples stay
 * in the kernel's rings, where new ones overwrite old ones, until somebody asks for a dump into captures/.
 *
 * There is one from flight_open() to flight_close(): another configuration needs another daemon. One that
 * fails is told once, and is off from then on.
 */
#ifndef DAEMON_STREAM_FLIGHT_H
#define DAEMON_STREAM_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "recorder/ground/session_error.h"

struct flight;

/*
 * Begins it; *ret is NULL where the configuration has none, which all calls below take. The archive is borrowed.
 * 0, -ENOMEM, -errno with *error.
 */
int flight_open(const struct config *c, struct archive *a, int wake_fd, struct flight **ret,
		struct session_error *error);
/* Asks it to end, and does not wait. */
void flight_stop(struct flight *f);
/* After chores_close(). */
void flight_close(struct flight *f);

/* Says what has become of it. From the main thread, as the next two. */
void flight_dispatch(struct flight *f);
bool flight_alive(struct flight *f, uint64_t now_ns);
/* Bytes of memory of its rings: of the CPUs that are sampled. 0: it is off. */
uint64_t flight_bytes(const struct flight *f);

/* CPU time that its threads have taken so far, to follow which tasks there are and what they map. */
uint64_t flight_cpu_ns(struct flight *f);

/*
 * Of the time that was asked for, what a ring of so many bytes holds, for people: so many samples a second, of so many
 * bytes each. Rounded down where it is less than that.
 */
uint64_t flight_held_ns(uint64_t span_ns, uint64_t ring_bytes, uint64_t hz, uint64_t sample_bytes);

struct flight_dump {
	char file[ARCHIVE_NAME_MAX]; /* below the archive's directory */
	uint64_t samples;
};
/*
 * What the rings have, into a file of the archive; the rings keep it. In a chore only. 0, or -errno with *error:
 * -ENOENT, there is no flight recorder; -EAGAIN, it does not record.
 */
int flight_dump(struct flight *f, struct flight_dump *ret, struct session_error *error);

#endif
