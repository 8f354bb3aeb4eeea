/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/packed.h"

#define WITH_CODE 1u
#define NAMES_ONLY 2u

void
packed_object_put(struct buf *out, const struct packed_object *o)
{
	buf_u8(out, (uint8_t)o->kind);
	buf_u8(out, o->id.kind);
	buf_u8(out, o->id.size);
	buf_u8(out, (uint8_t)((o->code ? WITH_CODE : 0) | (o->names_only ? NAMES_ONLY : 0)));
	buf_u32(out, o->pieces);
	buf_u64(out, o->size);
	buf_u64(out, o->changed_ns);
	buf_append(out, o->id.bytes, sizeof(o->id.bytes));
	buf_u32(out, (uint32_t)o->path_len);
	buf_append(out, o->path, o->path_len);
}

int
packed_object_read(struct span payload, struct packed_object *ret)
{
	struct packed_object o = { .kind = 0 };
	uint8_t kind, id_kind, id_size, flags;
	struct span id, path;
	uint32_t path_len;

	if (!span_u8(&payload, &kind) || !span_u8(&payload, &id_kind) ||
	    !span_u8(&payload, &id_size) || !span_u8(&payload, &flags) ||
	    !span_u32(&payload, &o.pieces) || !span_u64(&payload, &o.size) ||
	    !span_u64(&payload, &o.changed_ns) || !span_take(&payload, BUILDID_MAX, &id) ||
	    !span_u32(&payload, &path_len) || path_len > PACKED_PATH_MAX ||
	    !span_take(&payload, path_len, &path) || o.size > PACKED_FILE_MAX)
		return -FMT_E_CORRUPT;
	o.kind = (enum packed_kind)kind;
	o.id = buildid_of((enum buildid_kind)id_kind, id.p, id_size);
	if (o.id.size == 0)
		return -FMT_E_CORRUPT;
	o.code = flags & WITH_CODE;
	o.names_only = flags & NAMES_ONLY;
	o.path = (const char *)path.p;
	o.path_len = path.len;
	*ret = o;
	return 0;
}

void
packed_piece_put(struct buf *out, const struct packed_piece *p)
{
	buf_u64(out, p->object);
	buf_u64(out, p->at);
	buf_append(out, p->bytes.p, p->bytes.len);
}

int
packed_piece_read(struct span payload, struct packed_piece *ret)
{
	struct packed_piece p;

	if (!span_u64(&payload, &p.object) || !span_u64(&payload, &p.at) ||
	    payload.len > PACKED_PIECE_BYTES)
		return -FMT_E_CORRUPT;
	p.bytes = payload;
	*ret = p;
	return 0;
}
