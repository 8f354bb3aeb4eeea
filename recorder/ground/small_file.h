/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_file: files of /proc and /sys, which one read(2) has whole.
 */
#ifndef RECORDER_GROUND_SMALL_FILE_H
#define RECORDER_GROUND_SMALL_FILE_H

#include <sys/types.h>

/* Its first cap - 1 bytes, as a string. How many there are, or -errno; to is then "". */
ssize_t small_file_read(int dirfd, const char *path, char *to, size_t cap);

#endif
