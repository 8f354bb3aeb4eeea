/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_reach: who can reach a file by its path. A program of mode 0755 in a directory of mode 0700 is private, and so is
 * one without a name, or with a name in another mount namespace alone.
 */
#ifndef FORMAT_BYTES_FILE_REACH_H
#define FORMAT_BYTES_FILE_REACH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * S_IRGRP: its group may read it, S_IROTH: all others; as far as they may search each directory from this process's root
 * to it, and that path leads to it. 0 with an access control list on the way, and for a file that its group may not read.
 * Waits for the file systems of the path.
 */
mode_t file_reach(int fd);
/* By every user. */
bool file_reach_all(int fd);

#endif
