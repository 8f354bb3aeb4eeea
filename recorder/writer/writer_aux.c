/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracers wrote, collected to blocks of some size, with what decoders are told in each. Its age is
 * bounded as that of records is.
 */
#include <string.h>

#include "format/block/aux_trace.h"
#include "format/recording/recording_writer.h"
#include "recorder/writer/writer_internal.h"

int
writer_aux_flush(struct writer *w)
{
	struct fmt_where where = { 0 };

	return w->outage.on ? 0
			    : writer_trouble(w, out_file_aux(&w->file, &w->aux, &where), &where);
}

int
writer_aux(struct writer *w, struct span message)
{
	struct message_aux head;
	struct aux_piece piece;

	memcpy(&head, message.p, sizeof(head));
	piece = (struct aux_piece){ .ring = head.ring,
				    .cpu = head.cpu,
				    .tid = head.tid,
				    .flags = head.flags,
				    .offset = head.offset,
				    .bytes = span_of(message.p + sizeof(head),
						     message.len - sizeof(head)) };
	if (w->outage.on) {
		writer_count(w, head.cpu, LOSS_AUX_DROPPED, piece.bytes.len);
		return 0;
	}
	if (w->aux.len == 0) {
		w->aux_since_ns = w->complete_ns;
		aux_trace_begin(&w->aux, w->options.aux);
	}
	aux_trace_add(&w->aux, &piece);
	if (buf_failed(&w->aux))
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "AUX data");
	return w->aux.len >= RECORDING_BLOCK_BYTES ? writer_aux_flush(w) : 0;
}

int
writer_aux_due(struct writer *w)
{
	if (w->aux.len == 0 || w->complete_ns < w->aux_since_ns + w->options.block_age_ns)
		return 0;
	return writer_aux_flush(w);
}
