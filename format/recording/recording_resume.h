/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_resume: a copy of a recording that goes on where the recording ended: byte for byte what it had,
 * damage included, without its END and what stands behind its last whole block.
 */
#ifndef FORMAT_RECORDING_RECORDING_RESUME_H
#define FORMAT_RECORDING_RECORDING_RESUME_H

#include "format/recording/recording_reader.h"
#include "format/recording/recording_writer.h"

/*
 * r is the reader of the recording and source its bytes, both the caller's; r is borrowed for the writer's
 * life, since it has the meta. The sink is owned from here on, also on failure. Blocks that the writer gets
 * are behind what there was; recording_writer_close() ends the copy. 0, -FMT_E_IO, -FMT_E_NOMEM.
 */
int recording_resume(struct recording_reader *r, struct io_source *source, struct io_sink *sink,
		     const struct recording_writer_options *options, struct recording_writer **ret,
		     struct fmt_where *where);

#endif
