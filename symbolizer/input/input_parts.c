/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/input_parts.h"

#include <err.h>
#include <inttypes.h>
#include <string.h>

#include "format/block/recording_parts.h"
#include "format/bytes/io_shared.h"
#include "symbolizer/text/screen_text.h"

static bool
is_end(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_END;
}

/*
 * Where the cover ends: what is behind it is no block of it, and is not looked through. Without its END it is what
 * the parts leave of the file.
 */
static uint64_t
find_cover_end(struct input *in, uint64_t bytes, uint64_t all_parts)
{
	struct block end;

	if (recording_reader_next(in->reader, is_end, NULL, &end, NULL) > 0)
		return end.offset + end.header.header_size + end.header.stored_length;
	return bytes > all_parts ? bytes - all_parts : bytes;
}

/* What the meta says was checked when it was decoded: the lengths add up. */
static uint64_t
parts_bytes(struct span parts)
{
	struct recording_part part;
	uint64_t bytes = 0;

	while (recording_parts_next(&parts, &part) > 0)
		bytes += part.bytes;
	return bytes;
}

int
input_parts_open(struct input_parts *p, struct input *in, struct archive_list *list)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);
	struct span parts = span_of(m->parts, m->parts_len);
	struct recording_part part;
	uint64_t at;

	*p = (struct input_parts){ .file = in->source, .access = in->access };
	in->source = NULL;
	p->bytes = recording_reader_size(in->reader);
	if (recording_parts_window(&parts, &p->since_ns, &p->until_ns) < 0)
		return -1;
	p->cover_bytes = find_cover_end(in, p->bytes, parts_bytes(parts));
	at = p->cover_bytes;
	while (recording_parts_next(&parts, &part) > 0) {
		if (archive_list_add_part(list, (const char *)part.name.p, part.name.len, at,
					  part.bytes) < 0) {
			warn("%s", in->path);
			return -1;
		}
		at += part.bytes;
	}
	if (at > p->bytes)
		screen_text_warn("%s: is cut: %" PRIu64 " bytes are missing at its end", in->path,
				 at - p->bytes);
	else if (at < p->bytes)
		screen_text_warn("%s: %" PRIu64 " bytes are behind its last recording", in->path,
				 p->bytes - at);
	p->whole = at == p->bytes;
	return 0;
}

void
input_parts_close(struct input_parts *p)
{
	if (p->file)
		p->file->close(p->file);
	memset(p, 0, sizeof(*p));
}

struct io_source *
input_parts_source(const struct input_parts *p, const struct archive_segment *part)
{
	struct io_source *file = io_source_another(p->file);

	return file ? io_source_part(file, part->offset, part->bytes) : NULL;
}

struct io_source *
input_parts_cover(const struct input_parts *p)
{
	struct io_source *file = io_source_another(p->file);

	return file ? io_source_front(file, p->cover_bytes) : NULL;
}
