/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/recording_meta.h"

#include <stdlib.h>
#include <string.h>

#include "format/block/recording_header.h"
#include "format/block/recording_parts.h"

static size_t
padding(size_t n)
{
	return -n & 7;
}

struct recording_meta *
recording_meta_new(void)
{
	struct recording_meta *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->hostname = strdup("");
	m->release = strdup("");
	m->arch = strdup("");
	m->writer = strdup("");
	m->cmdline = strdup("");
	m->notes = strdup("");
	m->events = event_set_new();
	if (!m->hostname || !m->release || !m->arch || !m->writer || !m->cmdline || !m->notes ||
	    !m->events) {
		recording_meta_free(m);
		return NULL;
	}
	return m;
}

void
recording_meta_free(struct recording_meta *m)
{
	if (!m)
		return;
	free(m->hostname);
	free(m->release);
	free(m->arch);
	free(m->writer);
	free(m->cmdline);
	free(m->notes);
	event_set_free(m->events);
	free(m->parts);
	free(m);
}

/* With or without dashes. */
void
recording_meta_parse_id(const char *text, uint8_t ret[16])
{
	const char *hex = "0123456789abcdef";
	uint8_t id[16] = { 0 };
	size_t digits = 0;

	for (; *text && digits < 32; text++) {
		const char *at = *text == '-' ? hex : memchr(hex, *text | 0x20, 16);

		if (!at)
			break;
		if (*text == '-')
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | (at - hex));
		digits++;
	}
	if (digits == 32)
		memcpy(ret, id, sizeof(id));
}

int
recording_meta_set(char **field, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -FMT_E_NOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int
recording_meta_note(struct recording_meta *m, const char *line)
{
	size_t before = strlen(m->notes), n = strlen(line);
	char *notes = realloc(m->notes, before + n + 2);

	if (!notes)
		return -FMT_E_NOMEM;
	memcpy(notes + before, line, n);
	memcpy(notes + before + n, "\n", 2);
	m->notes = notes;
	return 0;
}

/* --- encoding ---------------------------------------------------------------------------- */

/* The length is filled in by end_tag(), from where this returns. */
static size_t
begin_tag(struct buf *out, enum meta_tag tag, uint16_t flags)
{
	buf_u16(out, (uint16_t)tag);
	buf_u16(out, flags);
	buf_u32(out, 0);
	return out->len;
}

static void
end_tag(struct buf *out, size_t from)
{
	if (buf_failed(out))
		return;
	le32enc(out->p + from - 4, (uint32_t)(out->len - from));
	buf_zero(out, padding(out->len - from));
}

static void
put_bytes(struct buf *out, enum meta_tag tag, const void *p, size_t n)
{
	size_t from = begin_tag(out, tag, 0);

	buf_append(out, p, n);
	end_tag(out, from);
}

static void
put_string(struct buf *out, enum meta_tag tag, const char *s)
{
	if (*s)
		put_bytes(out, tag, s, strlen(s));
}

static void
put_words(struct buf *out, enum meta_tag tag, const uint64_t *words, size_t n)
{
	size_t from = begin_tag(out, tag, 0);

	for (size_t i = 0; i < n; i++)
		buf_u64(out, words[i]);
	end_tag(out, from);
}

static void
put_event(struct buf *out, const struct event *e)
{
	size_t from = begin_tag(out, META_EVENT, META_F_CRITICAL);
	size_t name_len = strlen(e->name), format_len = e->format ? strlen(e->format) : 0;

	buf_u32(out, (uint32_t)e->attr_raw.len);
	buf_u32(out, (uint32_t)name_len);
	buf_u32(out, (uint32_t)e->nr_ids);
	buf_u32(out, (uint32_t)format_len);
	buf_append(out, e->attr_raw.p, e->attr_raw.len);
	buf_append(out, e->name, name_len);
	buf_zero(out, padding(name_len));
	for (size_t i = 0; i < e->nr_ids; i++)
		buf_u64(out, e->ids[i]);
	buf_append(out, e->format, format_len);
	end_tag(out, from);
}

/* Behind all events, by its index. */
static void
put_unit(struct buf *out, uint32_t index, const struct count_unit *u)
{
	uint64_t scale;
	size_t from;

	if (!count_unit_told(u))
		return;
	memcpy(&scale, &u->scale, sizeof(scale));
	from = begin_tag(out, META_EVENT_UNIT, 0);
	buf_u32(out, index);
	buf_u32(out,
		(u->snapshot ? META_UNIT_F_SNAPSHOT : 0) | (u->per_pkg ? META_UNIT_F_PER_PKG : 0));
	buf_u64(out, scale);
	buf_u32(out, (uint32_t)strlen(u->name));
	buf_append(out, u->name, strlen(u->name));
	end_tag(out, from);
}

int
recording_meta_encode(const struct recording_meta *m, struct buf *out)
{
	size_t before = out->len, from;

	put_bytes(out, META_FILE_ID, m->file_id, sizeof(m->file_id));
	put_words(out, META_FEATURES, (uint64_t[]){ 0, RECORDING_INCOMPATIBLE_KNOWN }, 2);
	put_bytes(out, META_MACHINE_ID, m->machine_id, sizeof(m->machine_id));
	put_bytes(out, META_BOOT_ID, m->boot_id, sizeof(m->boot_id));
	put_words(out, META_CLOCK,
		  (uint64_t[]){ m->start.realtime, m->start.monotonic, m->start.boottime,
				m->clockid },
		  4);
	from = begin_tag(out, META_HOST, 0);
	buf_u32(out, m->page_size);
	buf_u32(out, m->cpus_possible);
	buf_u32(out, m->cpus_online);
	buf_u32(out, 0);
	end_tag(out, from);
	put_words(out, META_FREQUENCY, (uint64_t[]){ m->frequency_hz, m->frequency_hz_effective },
		  2);
	if (m->counter_interval_ns)
		put_words(out, META_COUNTERS, &m->counter_interval_ns, 1);
	if (m->pid_namespace)
		put_words(out, META_PID_NAMESPACE, &m->pid_namespace, 1);
	put_string(out, META_HOSTNAME, m->hostname);
	put_string(out, META_RELEASE, m->release);
	put_string(out, META_ARCH, m->arch);
	put_string(out, META_WRITER, m->writer);
	put_string(out, META_CMDLINE, m->cmdline);
	put_string(out, META_NOTES, m->notes);
	if (m->kernel_build_id.size > 0)
		put_bytes(out, META_KERNEL_BUILD_ID, m->kernel_build_id.bytes,
			  m->kernel_build_id.size);
	put_words(out, META_KERNEL_TEXT, &m->kernel_text, 1);
	if (m->parts) {
		from = begin_tag(out, META_PARTS, META_F_CRITICAL);
		buf_append(out, m->parts, m->parts_len);
		end_tag(out, from);
	}
	for (size_t i = 0; i < event_set_count(m->events); i++)
		put_event(out, event_set_at(m->events, i));
	for (size_t i = 0; i < event_set_count(m->events); i++)
		put_unit(out, (uint32_t)i, &event_set_at(m->events, i)->unit);
	if (buf_failed(out))
		return -FMT_E_NOMEM;
	return out->len - before > RECORDING_META_MAX ? -FMT_E_TOO_BIG : 0;
}

/* --- decoding ---------------------------------------------------------------------------- */

static int
get_id(struct span s, uint8_t id[16])
{
	if (s.len < 16)
		return -FMT_E_CORRUPT;
	memcpy(id, s.p, 16);
	return 0;
}

static int
get_string(struct span s, char **field)
{
	char *copy;

	if (s.len > 0 && memchr(s.p, 0, s.len))
		return -FMT_E_CORRUPT;
	copy = s.len > 0 ? strndup((const char *)s.p, s.len) : strdup("");
	if (!copy)
		return -FMT_E_NOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int
get_features(struct span s)
{
	uint64_t compatible, incompatible;

	if (!span_u64(&s, &compatible) || !span_u64(&s, &incompatible))
		return -FMT_E_CORRUPT;
	return incompatible & ~RECORDING_INCOMPATIBLE_KNOWN ? -FMT_E_VERSION : 0;
}

static int
get_clock(struct span s, struct recording_meta *m)
{
	if (!span_u64(&s, &m->start.realtime) || !span_u64(&s, &m->start.monotonic) ||
	    !span_u64(&s, &m->start.boottime) || !span_u32(&s, &m->clockid))
		return -FMT_E_CORRUPT;
	return 0;
}

static int
get_host(struct span s, struct recording_meta *m)
{
	if (!span_u32(&s, &m->page_size) || !span_u32(&s, &m->cpus_possible) ||
	    !span_u32(&s, &m->cpus_online))
		return -FMT_E_CORRUPT;
	return 0;
}

static int
get_frequency(struct span s, struct recording_meta *m)
{
	if (!span_u64(&s, &m->frequency_hz) || !span_u64(&s, &m->frequency_hz_effective))
		return -FMT_E_CORRUPT;
	return 0;
}

static int
get_kernel_build_id(struct span s, struct recording_meta *m)
{
	m->kernel_build_id = buildid_of(BUILDID_GNU, s.p, s.len);
	return m->kernel_build_id.size ? 0 : -FMT_E_CORRUPT;
}

/* Without it the event is as good, but for the meaning of its fields. */
static int
get_format(struct span text, struct event_set *events, size_t index)
{
	char *format = NULL;
	int error = 0;

	if (text.len > 0 && text.len <= EVENT_FORMAT_BYTES_MAX && !memchr(text.p, 0, text.len)) {
		format = strndup((const char *)text.p, text.len);
		error = format ? event_set_format(events, index, format) : -FMT_E_NOMEM;
		free(format);
	}
	return error;
}

static int
get_event(struct span s, struct recording_meta *m)
{
	uint32_t attr_len, name_len, nr_ids, format_len;
	struct span attr, name, ids, format;
	char *text = NULL;
	size_t index;
	int error;

	if (!span_u32(&s, &attr_len) || !span_u32(&s, &name_len) || !span_u32(&s, &nr_ids) ||
	    !span_u32(&s, &format_len) || !span_take(&s, attr_len, &attr) ||
	    !span_take(&s, name_len, &name) || !span_skip(&s, padding(name_len)) ||
	    !span_take_words(&s, nr_ids, 1, &ids) || !span_take(&s, format_len, &format))
		return -FMT_E_CORRUPT;
	error = get_string(name, &text);
	if (error)
		return error;
	error = event_set_add(m->events, attr, text, &index);
	free(text);
	for (size_t i = 0; !error && i < span_words(ids); i++)
		error = event_set_add_id(m->events, index, span_word(ids, i));
	if (!error)
		error = get_format(format, m->events, index);
	if (error && error != -FMT_E_NOMEM)
		return -FMT_E_CORRUPT;
	return error;
}

/* Without it the event is as good: its counts are shown as they are. */
static int
get_unit(struct span s, struct recording_meta *m)
{
	uint32_t index, flags, name_len;
	struct count_unit u = { 0 };
	struct span name;
	uint64_t scale;

	if (!span_u32(&s, &index) || !span_u32(&s, &flags) || !span_u64(&s, &scale) ||
	    !span_u32(&s, &name_len) || !span_take(&s, name_len, &name))
		return -FMT_E_CORRUPT;
	if (index >= event_set_count(m->events) || name.len >= sizeof(u.name) ||
	    (name.len > 0 && memchr(name.p, 0, name.len)))
		return 0;
	memcpy(&u.scale, &scale, sizeof(scale));
	if (name.len > 0)
		memcpy(u.name, name.p, name.len);
	u.snapshot = flags & META_UNIT_F_SNAPSHOT;
	u.per_pkg = flags & META_UNIT_F_PER_PKG;
	event_set_unit(m->events, index, &u);
	return 0;
}

static int
get_parts(struct span s, struct recording_meta *m)
{
	uint8_t *copy;
	int error = recording_parts_check(s);

	if (error)
		return error;
	copy = malloc(s.len);
	if (!copy)
		return -FMT_E_NOMEM;
	memcpy(copy, s.p, s.len);
	free(m->parts);
	m->parts = copy;
	m->parts_len = s.len;
	return 0;
}

static int
get_tag(uint16_t tag, uint16_t flags, struct span s, struct recording_meta *m)
{
	switch (tag) {
	case META_FILE_ID:
		return get_id(s, m->file_id);
	case META_FEATURES:
		return get_features(s);
	case META_MACHINE_ID:
		return get_id(s, m->machine_id);
	case META_BOOT_ID:
		return get_id(s, m->boot_id);
	case META_CLOCK:
		return get_clock(s, m);
	case META_HOST:
		return get_host(s, m);
	case META_FREQUENCY:
		return get_frequency(s, m);
	case META_HOSTNAME:
		return get_string(s, &m->hostname);
	case META_RELEASE:
		return get_string(s, &m->release);
	case META_ARCH:
		return get_string(s, &m->arch);
	case META_WRITER:
		return get_string(s, &m->writer);
	case META_CMDLINE:
		return get_string(s, &m->cmdline);
	case META_NOTES:
		return get_string(s, &m->notes);
	case META_KERNEL_BUILD_ID:
		return get_kernel_build_id(s, m);
	case META_KERNEL_TEXT:
		return span_u64(&s, &m->kernel_text) ? 0 : -FMT_E_CORRUPT;
	case META_COUNTERS:
		return span_u64(&s, &m->counter_interval_ns) ? 0 : -FMT_E_CORRUPT;
	case META_PID_NAMESPACE:
		return span_u64(&s, &m->pid_namespace) ? 0 : -FMT_E_CORRUPT;
	case META_EVENT:
		return get_event(s, m);
	case META_EVENT_UNIT:
		return get_unit(s, m);
	case META_PARTS:
		return get_parts(s, m);
	}
	return flags & META_F_CRITICAL ? -FMT_E_VERSION : 0;
}

static int
get_tags(struct span s, struct recording_meta *m)
{
	bool has_id = false;
	uint16_t tag, flags;
	uint32_t length;
	struct span value;
	int error;

	while (s.len > 0) {
		if (!span_u16(&s, &tag) || !span_u16(&s, &flags) || !span_u32(&s, &length) ||
		    !span_take(&s, length, &value) || !span_skip(&s, padding(length)))
			return -FMT_E_CORRUPT;
		error = get_tag(tag, flags, value, m);
		if (error)
			return error;
		if (tag == META_FILE_ID)
			has_id = true;
	}
	return has_id ? 0 : -FMT_E_CORRUPT;
}

int
recording_meta_decode(struct span payload, struct recording_meta **ret)
{
	struct recording_meta *m;
	int error;

	if (payload.len > RECORDING_META_MAX)
		return -FMT_E_CORRUPT;
	m = recording_meta_new();
	if (!m)
		return -FMT_E_NOMEM;
	error = get_tags(payload, m);
	if (error) {
		recording_meta_free(m);
		return error;
	}
	*ret = m;
	return 0;
}
