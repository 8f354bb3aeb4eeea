/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/fd_range.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* 5.9; glibc has a function since 2.34 */
#define SYS_close_range 436
#endif

#define FDS_MAX 65536 /* without close_range(2) */

void
fd_range_close(unsigned int first, unsigned int last)
{
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
	for (unsigned int fd = first; fd <= last && fd < FDS_MAX; fd++)
		(void)close((int)fd);
}
