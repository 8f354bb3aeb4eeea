/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor: a file that a client has passed. Whoever serves that file (FUSE, a network) may
 * answer late or never, so the main loop asks nothing that would be asked there.
 */
#ifndef DAEMON_DESCRIPTOR_H
#define DAEMON_DESCRIPTOR_H

#include <stdbool.h>

/*
 * Can a recording be written to it? Only to a regular file: a pipe that nobody reads would hold
 * the capture's writer for ever.
 */
bool descriptor_takes_recording(int fd);

/* Closes it, on a thread of its own. */
void descriptor_close(int fd);

/* False: so many are being closed that no more should be taken. */
bool descriptor_wanted(void);

#endif
