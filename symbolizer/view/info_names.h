/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info_names: `spoor info --names`: which processes have samples without a name, why, and what would name them.
 */
#ifndef SYMBOLIZER_VIEW_INFO_NAMES_H
#define SYMBOLIZER_VIEW_INFO_NAMES_H

#include <stdbool.h>

/* Of the recording or archive at path (NULL: the default): an exit status, after a message if not 0. */
int info_names(const char *path, bool json);

#endif
