/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_access: what the files that were read let others do. What is made of them shall let them do no more. */
#ifndef SYMBOLIZER_INPUT_INPUT_ACCESS_H
#define SYMBOLIZER_INPUT_INPUT_ACCESS_H

#include <sys/types.h>

struct input_access {
	mode_t mode; /* of the bits for files, those that all of them have */
	gid_t gid;   /* whom the group's bits are for */
};
#define INPUT_ACCESS_NONE_READ ((struct input_access){ 0666, (gid_t)-1 })

/* Of a descriptor's file. A pipe is its owner's alone. */
void input_access_of(int fd, struct input_access *ret);
/* *all becomes what both have. */
void input_access_add(struct input_access *all, const struct input_access *other);

#endif
