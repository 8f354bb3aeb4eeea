/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/descriptor.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOSING_MAX 32
#define STACK_BYTES (64u << 10)

static _Atomic unsigned int closing;

bool
descriptor_takes_recording(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return false;
	/* What is known here without asking whoever has the file. */
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
		S_ISREG(st.stx_mode);
}

static void *
body(void *arg)
{
	(void)close((int)(intptr_t)arg);
	closing--;
	return NULL;
}

void
descriptor_close(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;

	closing++;
	pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, body, (void *)(intptr_t)fd) != 0)
		(void)body((void *)(intptr_t)fd);
	pthread_attr_destroy(&attr);
}

bool
descriptor_wanted(void)
{
	return closing < CLOSING_MAX;
}
