/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flamegraph: a recording's stacks as a page for a browser, or as a picture.
 */
#ifndef SYMBOLIZER_VIEW_FLAMEGRAPH_H
#define SYMBOLIZER_VIEW_FLAMEGRAPH_H

#include "symbolizer/load/load.h"

#define FLAMEGRAPH_IN_PART "It could only be read in part: see what spoor said"

struct flamegraph {
	struct load_options load;
	const char *baseline; /* another recording, to compare it with; NULL: none */
	const char *output;   /* "-": standard output */
	const char *title;    /* NULL: by what it is of */
	const char *labels;   /* what the page can split by; NULL: what is no burden */
	bool inverted;	      /* from the sampled functions to their callers */
};

/* Each reads, and writes its file: an exit status, after a message if not 0. */
int flamegraph_page(struct flamegraph *f);
int flamegraph_svg(struct flamegraph *f);

#endif
