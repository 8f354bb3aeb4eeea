/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/input_access.h"

#include <sys/stat.h>

void
input_access_of(int fd, struct input_access *ret)
{
	struct stat st;

	*ret = (struct input_access){ 0600, (gid_t)-1 };
	if (fstat(fd, &st) == 0)
		*ret = (struct input_access){ st.st_mode & 0666, st.st_gid };
}

void
input_access_add(struct input_access *all, const struct input_access *other)
{
	all->mode &= other->mode;
	if (all->gid == (gid_t)-1)
		all->gid = other->gid;
	/* No group may read all of it, but as others may. */
	else if (all->gid != other->gid)
		all->mode &= ~070u | (all->mode & 07u) << 3;
}
