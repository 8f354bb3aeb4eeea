/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored_lab: copies of files as recorders store them. */
#ifndef TESTS_LAB_STORED_LAB_H
#define TESTS_LAB_STORED_LAB_H

#include <stdbool.h>

/* Makes the copy of a file below dir, a "spoor-objects"; whole: of every byte. Its path; static. */
const char *stored_lab_keep(const char *path, const char *dir, bool whole);

#endif
