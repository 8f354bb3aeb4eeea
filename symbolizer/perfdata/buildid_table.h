/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildid_table: build-ids by path, as perf.data's header has them.
 *
 * That table knows one build-id for a path. A path that had two (a program was replaced while
 * recording went on) is left out: a name from the wrong build is worse than none.
 */
#ifndef SYMBOLIZER_PERFDATA_BUILDID_TABLE_H
#define SYMBOLIZER_PERFDATA_BUILDID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"

struct buildid_table;

struct buildid_table *buildid_table_new(void); /* NULL: out of memory */
void buildid_table_free(struct buildid_table *t);

/*
 * A path (not NUL-terminated) and its build-id, which has size 0 when another one comes. In
 * brackets it is the kernel or a module of it, but for [vdso]. Surrogates are left out: perf would
 * look for them in the file. 0, -FMT_E_NOMEM.
 */
int buildid_table_add(struct buildid_table *t, const char *path, size_t path_len,
		      const struct buildid *id);

/* The i-th path and its build-id, in the order in which they came; NULL: there are no more. */
const char *buildid_table_at(const struct buildid_table *t, size_t i, struct buildid *ret);

/*
 * Appends perf.data's BUILD_ID section, in the order in which paths came. -FMT_E_TOO_BIG, and
 * nothing: there were 64 MiB of paths, and which had two build-ids is not known.
 */
int buildid_table_section(const struct buildid_table *t, struct buf *out);

#endif
