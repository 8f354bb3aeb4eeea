/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/inode_lab.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

uint32_t
lab_generation(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	long generation = 0;

	assert_true(fd >= 0);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) < 0)
		generation = 0;
	close(fd);
	return (uint32_t)generation;
}
