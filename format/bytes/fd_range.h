/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fd_range: descriptors that a child is not to have. */
#ifndef FORMAT_BYTES_FD_RANGE_H
#define FORMAT_BYTES_FD_RANGE_H

/*
 * Closes those from first to last (UINT_MAX: all that follow). Where close_range(2) is missing (before Linux 5.9) or
 * a seccomp filter refuses it, one after another, up to 65535. Nothing but system calls: it may follow a fork().
 */
void fd_range_close(unsigned int first, unsigned int last);

#endif
