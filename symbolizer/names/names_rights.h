/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_rights: what the process that asks another one may still do: no more than that one's user, and within limits.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_RIGHTS_H
#define SYMBOLIZER_NAMES_NAMES_RIGHTS_H

#include <sys/types.h>

#include "symbolizer/names/names_process.h"

/* Of CPU time, memory, files: for all that is done for one process. */
void names_rights_limit(void);
/* Of memory that is shared as well, for a program that is executed. Not for this one, which may be built with a sanitizer. */
void names_rights_limit_program(void);

/* Its supplementary groups; nothing where the caller is not root. 0, -errno. */
int names_rights_groups(const struct names_process *p);

/*
 * The calling process is this user and group from now on, has no capability, gets none by an exec, ends with its parent,
 * starts no further process unless it is root's, and lets nobody look into it. 0; -errno: it is still more than that, and has to end.
 */
int names_rights_take(uid_t uid, gid_t gid);

#endif
