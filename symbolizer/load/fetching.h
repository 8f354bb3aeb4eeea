/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetching: --debuginfod as a person sees it: what it lacks, what is fetched, what went wrong. */
#ifndef SYMBOLIZER_LOAD_FETCHING_H
#define SYMBOLIZER_LOAD_FETCHING_H

#include <stdbool.h>

#include "symbolizer/object/object_fetch.h"

/* The option's help. */
#define FETCHING_HELP "fetch what is missing by build-id from the servers in DEBUGINFOD_URLS"

/*
 * Begins; progress is told where stderr is a terminal. cache: object_places_debuginfod_cache();
 * lines: see object_fetch. 0, or an exit status, said.
 */
int fetching_start(const char *cache, bool lines, struct object_fetch **ret);
/* What could not be fetched, on stderr; of: what a warning begins with. */
void fetching_warn(const struct object_fetch *f, const char *of);

#endif
