/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_owner: whose a file is. A build-id is whatever its file says, so that anybody can make a file of any
 * build-id: what it says is believed of its owner's own programs, unless the owner is root or the reader.
 */
#ifndef SYMBOLIZER_OBJECT_FILE_OWNER_H
#define SYMBOLIZER_OBJECT_FILE_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

/* Is it root's or the reader's own, and may not everybody write to it? */
bool file_owner_is_trusted(const struct stat *st);
/* May it tell names of the other file? It is trusted, or both have one owner, and not everybody may write to it alone. */
bool file_owner_may_name(const struct stat *st, const struct stat *other);

/* The same of open files; false: it cannot be told. */
bool file_owner_trusts(int fd);
bool file_owner_may_name_fd(int fd, int other_fd);

#endif
