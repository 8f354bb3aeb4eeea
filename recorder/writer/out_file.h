/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out_file: one of the files that a session writes, one after another: its writer, its own
 * meta (a copy: each file has an id and a start of its own) and its own loss ledger.
 */
#ifndef RECORDER_WRITER_OUT_FILE_H
#define RECORDER_WRITER_OUT_FILE_H

#include <stdbool.h>

#include "format/block/loss.h"
#include "format/recording/recording_writer.h"

struct out_file {
	struct recording_writer *writer; /* NULL: there is none */
	struct recording_meta *meta;
	struct loss *loss; /* since the file began */
	bool loss_changed; /* since the last LOSS block */
	struct loss *told; /* what the file has of loss; NULL: nothing */
};

/*
 * Begins a file that is like *meta says; again: not the first, with an id, a start and a
 * number of CPUs of its own. The sink is taken over, also on failure. 0, -FMT_E_*.
 */
int out_file_open(struct out_file *f, struct io_sink *sink, const struct recording_meta *meta,
		  bool again, const struct recording_writer_options *hooks,
		  struct fmt_where *where);

/* Writes the ledger, if it has changed. */
int out_file_ledger(struct out_file *f, struct fmt_where *where);

/* Writes the payload of an AUX block, if there is one, and empties it; what fails is kept. */
int out_file_aux(struct out_file *f, struct buf *aux, struct fmt_where *where);

/*
 * Ends the file in order; when that fails, as a kill would leave it. *ret: its last numbers; what is
 * still in the open block then (open_*) is in no file. Meta and ledger stay.
 */
int out_file_end(struct out_file *f, bool sync, struct recording_writer_stats *ret,
		 struct fmt_where *where);
/* As a kill would leave it, if it is open. ret may be NULL; all of it is 0 where the file is not open. */
void out_file_abandon(struct out_file *f, struct recording_writer_stats *ret);
void out_file_done(struct out_file *f);

#endif
