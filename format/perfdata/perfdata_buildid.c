/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_buildid.h"

#include <linux/perf_event.h>
#include <string.h>

#include "format/perfdata/perfdata_header.h"
#include "format/record/perf_record.h"

#define PATH_AT 36	     /* offset of the path */
#define ID_ROOM 24	     /* id, its size, reserved */
#define MISC_SIZE (1u << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE, which is perf's own */
#define CPUMODE_MASK PERF_RECORD_MISC_CPUMODE_MASK

int
perfdata_buildid_next(struct span *s, struct perfdata_buildid *ret)
{
	struct span record, id;
	struct perfdata_buildid b;
	uint16_t misc, size;
	uint32_t type;

	if (s->len == 0)
		return 0;
	record = *s;
	if (!span_u32(&record, &type) || !span_u16(&record, &misc) || !span_u16(&record, &size) ||
	    size <= PATH_AT || !span_take(s, size, &record))
		return -FMT_E_CORRUPT;
	span_skip(&record, PATH_AT - ID_ROOM);
	if (!span_take(&record, ID_ROOM, &id) || !span_string(&record, &b.path))
		return -FMT_E_CORRUPT;
	b.id = misc & MISC_SIZE ? buildid_of(BUILDID_GNU, id.p, id.p[BUILDID_MAX])
				: buildid_of_padded(id.p);
	if (misc & MISC_SIZE && !b.id.size)
		return -FMT_E_CORRUPT;
	b.cpumode = misc & CPUMODE_MASK;
	*ret = b;
	return 1;
}

bool
perfdata_buildid_is_kernel(const struct perfdata_buildid *b)
{
	static const char kernel[] = "[kernel.", vmlinux[] = "vmlinux";
	const char *slash = strrchr(b->path, '/');

	/* perf calls it by the vmlinux that it found, also in the working directory. */
	return b->cpumode == PERF_RECORD_MISC_KERNEL &&
		(strncmp(b->path, kernel, sizeof(kernel) - 1) == 0 ||
		 strncmp(slash ? slash + 1 : b->path, vmlinux, sizeof(vmlinux) - 1) == 0);
}

void
perfdata_buildid_add(struct buf *out, const struct perfdata_buildid *b)
{
	size_t len = strlen(b->path), room = perfdata_string_room(len);

	if (PATH_AT + room + 7 > PERF_RECORD_MAX_BYTES)
		return;
	buf_u32(out, PERFDATA_BUILD_ID);
	buf_u16(out, MISC_SIZE | b->cpumode);
	buf_u16(out, (uint16_t)(PATH_AT + room));
	buf_u32(out, UINT32_MAX); /* pid: of the host, not of a guest */
	buf_append(out, b->id.bytes, sizeof(b->id.bytes));
	buf_u8(out, b->id.size);
	buf_zero(out, 3);
	buf_append(out, b->path, len);
	buf_zero(out, room - len);
}

void
perfdata_buildid_record(struct buf *out, struct span entry)
{
	size_t size = (entry.len + 7) & ~(size_t)7;

	if (entry.len < PERF_RECORD_HEADER_BYTES || size > PERF_RECORD_MAX_BYTES)
		return;
	/* The type is not asked: old files have 0 there. */
	buf_u32(out, PERFDATA_BUILD_ID);
	buf_append(out, entry.p + 4, 2);
	buf_u16(out, (uint16_t)size);
	buf_append(out, entry.p + 8, entry.len - 8);
	buf_zero(out, size - entry.len);
}
