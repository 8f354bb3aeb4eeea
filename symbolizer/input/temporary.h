/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * temporary: a file without a name, for what has to be gone back in before it is where it
 * belongs. It is in $TMPDIR, or in /var/tmp: /tmp is often memory.
 */
#ifndef SYMBOLIZER_INPUT_TEMPORARY_H
#define SYMBOLIZER_INPUT_TEMPORARY_H

/* What to call it when it cannot be written. */
#define TEMPORARY_NAME "temporary file (TMPDIR says where)"

/* A descriptor for reading and writing; -1 after a message. */
int temporary_open(void);

#endif
