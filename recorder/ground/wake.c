/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/wake.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

void
wake_signal(int fd)
{
	static const uint64_t one = 1;
	int saved = errno;

	(void)!write(fd, &one, sizeof(one));
	errno = saved;
}
