/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer/out_file.h"

#include "recorder/host/host.h"

static int
copy_meta(const struct recording_meta *meta, struct recording_meta **ret)
{
	struct buf bytes;
	int r;

	buf_init(&bytes);
	r = recording_meta_encode(meta, &bytes);
	if (r == 0)
		r = recording_meta_decode(buf_span(&bytes), ret);
	buf_done(&bytes);
	return r;
}

int
out_file_open(struct out_file *f, struct io_sink *sink, const struct recording_meta *meta,
	      bool again, const struct recording_writer_options *hooks, struct fmt_where *where)
{
	struct out_file file = { .loss = loss_new() };
	int r = file.loss ? copy_meta(meta, &file.meta) : -FMT_E_NOMEM;

	if (r == 0 && again && host_describe_again(file.meta) < 0)
		r = -FMT_E_IO;
	if (r < 0) {
		sink->close(sink);
		fmt_fail(where, r, 0, "meta");
		goto fail;
	}
	r = recording_writer_open(sink, file.meta, hooks, &file.writer, where);
	if (r < 0)
		goto fail;
	*f = file;
	return 0;
fail:
	recording_meta_free(file.meta);
	loss_free(file.loss);
	return r;
}

int
out_file_ledger(struct out_file *f, struct fmt_where *where)
{
	struct buf bytes;
	int r;

	if (!f->loss_changed)
		return 0;
	buf_init(&bytes);
	loss_encode(f->loss, &bytes);
	r = buf_failed(&bytes)
		? fmt_fail(where, FMT_E_NOMEM, 0, "loss ledger")
		: recording_writer_block(f->writer, BLOCK_LOSS, buf_span(&bytes), where);
	buf_done(&bytes);
	f->loss_changed = r < 0;
	if (r == 0) {
		loss_free(f->told);
		f->told = loss_since(f->loss, NULL);
	}
	return r;
}

int
out_file_aux(struct out_file *f, struct buf *aux, struct fmt_where *where)
{
	int r;

	if (aux->len == 0)
		return 0;
	r = recording_writer_block(f->writer, BLOCK_AUX, buf_span(aux), where);
	if (r == 0)
		buf_clear(aux);
	return r;
}

int
out_file_end(struct out_file *f, bool sync, struct recording_writer_stats *ret,
	     struct fmt_where *where)
{
	int r = recording_writer_flush(f->writer, where);

	if (r == 0)
		r = out_file_ledger(f, where);
	if (r < 0) {
		out_file_abandon(f, ret);
		return r;
	}
	recording_writer_stats(f->writer, ret);
	r = recording_writer_close(f->writer, sync, where);
	f->writer = NULL;
	return r;
}

void
out_file_abandon(struct out_file *f, struct recording_writer_stats *ret)
{
	if (ret)
		*ret = (struct recording_writer_stats){ 0 };
	if (!f->writer)
		return;
	if (ret)
		recording_writer_stats(f->writer, ret);
	recording_writer_abandon(f->writer);
	f->writer = NULL;
}

void
out_file_done(struct out_file *f)
{
	recording_meta_free(f->meta);
	loss_free(f->loss);
	loss_free(f->told);
	*f = (struct out_file){ 0 };
}
