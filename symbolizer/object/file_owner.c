/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/file_owner.h"

#include <unistd.h>

bool
file_owner_is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & S_IWOTH);
}

bool
file_owner_may_name(const struct stat *st, const struct stat *other)
{
	return file_owner_is_trusted(st) ||
		(st->st_uid == other->st_uid && !(st->st_mode & ~other->st_mode & S_IWOTH));
}

bool
file_owner_trusts(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && file_owner_is_trusted(&st);
}

bool
file_owner_may_name_fd(int fd, int other_fd)
{
	struct stat st, other;

	return fstat(fd, &st) == 0 && fstat(other_fd, &other) == 0 &&
		file_owner_may_name(&st, &other);
}
