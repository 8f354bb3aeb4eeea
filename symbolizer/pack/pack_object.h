/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack_object: the files of one object as blocks of a recording: what of them names, unwinds and shows the code
 * that was sampled.
 */
#ifndef SYMBOLIZER_PACK_PACK_OBJECT_H
#define SYMBOLIZER_PACK_PACK_OBJECT_H

#include "format/recording/recording_writer.h"
#include "symbolizer/input/input.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/object/packed_objects.h"

struct pack_counts {
	uint64_t objects; /* of which at least one file was packed, or was there already */
	uint64_t files;
	uint64_t refused; /* files that are no longer the build that they were, or cannot be read */
	int error;	  /* errno of the temporary file, when that could not be written; 0 */
};

struct pack_job {
	struct recording_writer *writer;
	struct packed_objects *there; /* what the recording has already; NULL: nothing */
	bool names_only;
	struct input_access
		*access; /* what is packed may be read by no more than may read its files */
	struct pack_counts counts;
	/* What was packed, without paths; the caller frees it. */
	struct packed_object *done;
	size_t nr_done, cap_done;
};

/*
 * addresses: those in the object that were sampled, ascending. path: what it is called, for people. 0,
 * -FMT_E_NOMEM, -FMT_E_IO (counts.error), or what the writer says.
 */
int pack_object(struct pack_job *job, const struct object *o, const char *path,
		const uint64_t *addresses, size_t nr, struct fmt_where *where);

#endif
