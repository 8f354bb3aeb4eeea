/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack: a recording with what names it inside of it: a copy of the file, behind which come the objects that its
 * samples are in; or the recordings of a window of an archive as one file, before which they come.
 */
#ifndef SYMBOLIZER_PACK_PACK_H
#define SYMBOLIZER_PACK_PACK_H

#include "symbolizer/load/load.h"

struct pack_request {
	struct load_options *load; /* what is packed, and where its files are looked for */
	const char *output;	   /* NULL: in place of the input */
	bool names_only;
	bool quiet; /* nothing is said of what was packed; what is missing is */
};

/* An exit status, after messages. Nothing is left of the output where it failed, and the input is as it was. */
int pack(const struct pack_request *rq);

#endif
