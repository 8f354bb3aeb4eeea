/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_perfdata: `spoor export -f perf-data` and `-f perf-data-file`: from options to a
 * file, a pipe, and words on stderr.
 */
#ifndef SYMBOLIZER_VIEW_EXPORT_PERFDATA_H
#define SYMBOLIZER_VIEW_EXPORT_PERFDATA_H

#include <stdbool.h>

#include "symbolizer/view/load.h"

struct export_perfdata {
	bool pipe;		   /* mode of the perf.data */
	bool windowed;		   /* it has a time to say */
	bool filtered;		   /* load->filter has something to say of samples */
	const char *output;	   /* NULL: standard output */
	const char *kallsyms;	   /* where the kernel's symbols go; NULL: nowhere */
	struct load_options *load; /* path and filter */
};

/* The exit status, after a message when it is not 0. */
int export_perfdata(const struct export_perfdata *rq);

#endif
