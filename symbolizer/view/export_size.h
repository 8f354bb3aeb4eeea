/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_size: --max-size of `spoor export`, and what is said of what it left out.
 */
#ifndef SYMBOLIZER_VIEW_EXPORT_SIZE_H
#define SYMBOLIZER_VIEW_EXPORT_SIZE_H

#include <stdint.h>
#include <stdio.h>

#include "symbolizer/view/export.h"

/* A form is not made smaller than that: it would be nothing but its frame. */
#define EXPORT_SIZE_MIN 4096

/* Bytes, 0: no limit. 0, or an exit status after a message. */
int export_size_parse(const struct export_request *rq, uint64_t *ret);

/*
 * How many of n things, of which write() writes the first ones, fit into so many bytes: most of those
 * that do. It is called a few times. 0, -FMT_E_NOMEM, or -FMT_E_TOO_BIG: not even none does.
 */
typedef int export_size_fn(void *arg, size_t keep, FILE *out);
int export_size_fit(uint64_t max_bytes, size_t n, export_size_fn *write, void *arg, size_t *ret);

/* On stderr: so many of all samples are left out, which ones ("the last"); 0: nothing. */
void export_size_say(const char *input, uint64_t left_out, uint64_t samples, const char *which);

#endif
