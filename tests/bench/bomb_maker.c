/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings that ask for much: whole, with checksums that are right, small on the disk.
 *
 *	bomb_maker KIND N FILE
 *
 * N is how many there are of what KIND names (see kinds below).
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/block/gap.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "format/block/loss.h"
#include "format/block/rate.h"
#include "format/record/record_build.h"
#include "format/recording/recording_writer.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#define LONG 65400 /* what a record has room for */
#define FULL 4000  /* what the kernel makes at most, nearly */
#define KERNEL UINT64_C(0xffffffff81000000)
#define TEXT UINT64_C(0x400000)

static const uint8_t build_id[] = { 0xab, 0xcd, 0xef, 0x01 }; /* of the kernel */
static struct event_attr attr;
static struct recording_meta *meta;
static struct recording_writer *writer;
static struct buf records;
static uint64_t now_ns = 1;
static char long_name[LONG + 1];
static size_t length = LONG;

static void
check(int error)
{
	if (error)
		errx(1, "%s", fmt_error_text(error));
}

static void
add_event(const char *name, uint64_t first_id, uint64_t ids)
{
	uint8_t bytes[ATTR_ENCODE_MAX];
	int n = attr_encode(&attr, bytes);
	size_t index;

	check(n < 0 ? n : 0);
	check(event_set_add(meta->events, span_of(bytes, (size_t)n), name, &index));
	for (uint64_t i = 0; i < ids; i++)
		check(event_set_add_id(meta->events, index, first_id + i));
}

static void
begin(uint32_t index_every, const char *path)
{
	struct recording_writer_options options = { .index_every = index_every };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct io_sink *sink = fd < 0 ? NULL : io_sink_fd(fd);

	if (!sink)
		err(1, "%s", path);
	check(recording_writer_open(sink, meta, &options, &writer, NULL));
}

static struct perf_sample_id
id_of(uint32_t pid, uint32_t tid)
{
	return (struct perf_sample_id){
		.have = attr.sample_type, .pid = pid, .tid = tid, .time = now_ns++, .id = 1
	};
}

static void
flush_records(void)
{
	check(recording_writer_records(writer, buf_span(&records), NULL, NULL));
	recording_writer_pass(writer, now_ns);
	buf_clear(&records);
}

static void
give(int error)
{
	check(error);
	if (records.len >= 1u << 19)
		flush_records();
}

static void
sample(uint32_t pid, uint64_t ip, uint64_t cgroup, uint16_t misc)
{
	const struct perf_sample_id sid = id_of(pid, pid);
	const struct perf_sample s = {
		.have = attr.sample_type, .ip = ip, .period = 1, .cgroup = cgroup
	};

	give(record_sample_build(&records, &sid, &s, misc));
}

/* Puts the long name into the last record, made with a name of one byte that stands at this offset. */
static void
lengthen(size_t start, size_t at)
{
	const size_t tail = records.len - start - at - 8, room = (length + 8) & ~(size_t)7;
	uint8_t trailer[64];

	if (buf_failed(&records) || tail > sizeof(trailer))
		errx(1, "a record of another shape");
	memcpy(trailer, records.p + start + at + 8, tail);
	records.len = start + at;
	buf_append(&records, long_name, length);
	buf_zero(&records, room - length);
	buf_append(&records, trailer, tail);
	le16enc(records.p + start + 6, (uint16_t)(records.len - start));
	give(0);
}

static void
chain(const uint64_t *ips, size_t nr, uint64_t ip)
{
	const struct perf_sample_id sid = id_of(1, 1);
	const struct perf_sample s = { .have = attr.sample_type,
				       .ip = ip,
				       .period = 1,
				       .callchain = span_of(ips, nr * sizeof(*ips)) };

	give(record_sample_build(&records, &sid, &s, PERF_RECORD_MISC_USER));
}

static void
map(uint32_t pid, uint64_t start, uint64_t len, const char *path, uint64_t ino)
{
	const struct perf_sample_id sid = id_of(pid, pid);
	const struct perf_mmap m = { .pid = pid,
				     .tid = pid,
				     .addr = start,
				     .len = len,
				     .maj = 8,
				     .ino = ino,
				     .prot = 5,
				     .flags = 2,
				     .filename = path == long_name ? "n" : path };
	const size_t at = records.len;

	check(record_build_mmap2(&records, &attr, &sid, &m, PERF_RECORD_MISC_USER));
	if (path == long_name)
		lengthen(at, 72);
	else
		give(0);
}

static void
comm(uint32_t pid, uint32_t tid, const char *name)
{
	const struct perf_sample_id sid = id_of(pid, tid);
	const size_t at = records.len;

	check(record_build_comm(&records, &attr, &sid, pid, tid, name == long_name ? "n" : name,
				0));
	if (name == long_name)
		lengthen(at, 16);
	else
		give(0);
}

static void
fork_task(uint32_t pid, uint32_t tid, uint32_t ppid)
{
	const struct perf_sample_id sid = id_of(pid, tid);

	give(record_build_fork(&records, &attr, &sid, pid, ppid, tid, ppid, now_ns, 0));
}

/* The i-th name of that length. */
static const char *
name_of(uint64_t i)
{
	int n;

	memset(long_name, 'n', length);
	n = snprintf(long_name, 32, "/%" PRIu64, i);
	long_name[n] = 'n';
	return long_name;
}

static void
block(enum block_type type, struct buf *payload)
{
	if (buf_failed(payload))
		errx(1, "out of memory");
	check(recording_writer_block(writer, type, buf_span(payload), NULL));
	buf_clear(payload);
}

/* --- kinds -------------------------------------------------------------------------------- */

static void
bomb_paths(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		map(1, TEXT + i * 4096, 4096, name_of(i), i + 1);
		sample(1, TEXT + i * 4096, 0, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_ends(uint64_t n) /* paths that differ behind PATH_MAX only */
{
	for (uint64_t i = 0; i < n; i++) {
		memset(long_name, 'n', length);
		snprintf(long_name + length - 24, 24, "%" PRIu64, i);
		map(1, TEXT + i * 4096, 4096, long_name, 1);
		sample(1, TEXT + i * 4096, 0, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_comms(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		comm((uint32_t)i + 1, (uint32_t)i + 1, name_of(i));
		sample((uint32_t)i + 1, TEXT, 0, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_cgroups(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const struct perf_sample_id sid = id_of(0, 0);

		const size_t at = records.len;

		name_of(i);
		check(record_build_cgroup(&records, &attr, &sid, i + 1, "n"));
		lengthen(at, 16);
		sample(1, TEXT, i + 1, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_short_cgroups(uint64_t n)
{
	char name[32];

	for (uint64_t i = 0; i < n; i++) {
		const struct perf_sample_id sid = id_of(0, 0);

		snprintf(name, sizeof(name), "/%" PRIu64, i);
		give(record_build_cgroup(&records, &attr, &sid, i + 1, name));
		sample(1, TEXT, i + 1, PERF_RECORD_MISC_USER);
	}
}

static void
ksymbols(uint64_t n, bool longer)
{
	for (uint64_t i = 0; i < n; i++) {
		const struct perf_sample_id sid = id_of(0, 0);
		char name[32];

		size_t at;

		snprintf(name, sizeof(name), "bpf_prog_%" PRIu64, i);
		at = records.len;
		check(record_build_ksymbol(&records, &attr, &sid, KERNEL + i * 64, 64, 1, 0,
					   longer ? "n" : name));
		if (longer) {
			name_of(i);
			lengthen(at, 24);
		} else {
			give(0);
		}
		sample(1, KERNEL + i * 64, 0, PERF_RECORD_MISC_KERNEL);
	}
}

static void
bomb_ksymbols(uint64_t n)
{
	ksymbols(n, true);
}

static void
bomb_short_ksymbols(uint64_t n)
{
	ksymbols(n, false);
}

static void
ksyms(uint64_t n, bool longer)
{
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++) {
		char name[32];
		uint64_t start = KERNEL + i * 64;

		snprintf(name, sizeof(name), "function_%" PRIu64, i);
		if (payload.len == 0)
			ksyms_begin(&payload);
		ksyms_add(&payload, start, start + 64, "", longer ? name_of(i) : name);
		if (payload.len >= 1u << 20)
			block(BLOCK_KSYMS, &payload);
		sample(1, start, 0, PERF_RECORD_MISC_KERNEL);
	}
	if (payload.len)
		block(BLOCK_KSYMS, &payload);
	buf_done(&payload);
}

static void
bomb_ksyms(uint64_t n)
{
	ksyms(n, true);
}

static void
bomb_short_ksyms(uint64_t n)
{
	ksyms(n, false);
}

/* Code of which each range overlaps all others, of another process each time or of one. */
static void
jitsyms(uint64_t n, bool longer, bool apart)
{
	struct buf payload;

	buf_init(&payload);
	map(1, TEXT, n * 64, "//anon", 0);
	for (uint64_t i = 0; i < n; i++) {
		const char *name = longer ? name_of(i) : "f";
		const struct jitsym s = { .pid = apart ? (uint32_t)i : 1,
					  .time_ns = i,
					  .start = TEXT + i * 16,
					  .size = (n - i) * 32,
					  .name = name,
					  .name_len = strlen(name) };

		if (payload.len == 0)
			jitsyms_begin(&payload);
		jitsyms_add(&payload, &s);
		if (payload.len >= 1u << 20)
			block(BLOCK_JIT, &payload);
		if (i % 64 == 0)
			sample(1, TEXT + i * 16, 0, PERF_RECORD_MISC_USER);
	}
	if (payload.len)
		block(BLOCK_JIT, &payload);
	buf_done(&payload);
}

static void
bomb_jitsyms(uint64_t n)
{
	jitsyms(n, false, false);
}

static void
bomb_long_jitsyms(uint64_t n)
{
	jitsyms(n, true, false);
}

static void
bomb_jitted(uint64_t n)
{
	jitsyms(n, false, true);
}

/* As many pieces as there can be, each of nothing. */
static void
bomb_aux(uint64_t n)
{
	const struct aux_trace about = { .tracer = AUX_TRACER_INTEL_PT };
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++) {
		const struct aux_piece piece = { .ring = (uint32_t)i, .cpu = (uint32_t)i };

		if (payload.len == 0)
			aux_trace_begin(&payload, &about);
		aux_trace_add(&payload, &piece);
		if (payload.len >= 1u << 20)
			block(BLOCK_AUX, &payload);
	}
	if (payload.len)
		block(BLOCK_AUX, &payload);
	buf_done(&payload);
}

/* Of rings in turn, each as if the next piece were read together with it: n KiB. */
static void
bomb_aux_runs(uint64_t n)
{
	static const uint8_t trace[64 << 10];
	const struct aux_trace about = { .tracer = AUX_TRACER_CS_ETM };
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n / 64; i++) {
		aux_trace_begin(&payload, &about);
		aux_trace_add(&payload,
			      &(struct aux_piece){ .ring = (uint32_t)(i % 50),
						   .flags = AUX_PIECE_MORE,
						   .offset = i / 50 * sizeof(trace),
						   .bytes = span_of(trace, sizeof(trace)) });
		block(BLOCK_AUX, &payload);
	}
	buf_done(&payload);
}

static void
buildids(uint64_t n, bool longer, bool by_path)
{
	struct buildid_entry e = { .maj = 8 };
	struct buf payload;
	uint8_t id[20];

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++) {
		char name[32];

		memset(id, 0, sizeof(id));
		memcpy(id, &i, sizeof(i));
		snprintf(name, sizeof(name), "/%" PRIu64, i);
		e.id = buildid_of(BUILDID_GNU, id, sizeof(id));
		e.ino = by_path ? 0 : i + 1;
		e.path = longer ? name_of(i) : name;
		e.path_len = strlen(e.path);
		map(1, TEXT + i * 4096, 4096, e.path, i + 1);
		if (payload.len == 0)
			buildids_begin(&payload);
		buildids_add(&payload, &e);
		if (payload.len >= 1u << 20) {
			flush_records();
			check(recording_writer_flush(writer, NULL));
			block(BLOCK_BUILDIDS, &payload);
		}
		sample(1, TEXT + i * 4096, 0, PERF_RECORD_MISC_USER);
	}
	if (payload.len)
		block(BLOCK_BUILDIDS, &payload);
	buf_done(&payload);
}

static void
bomb_buildids(uint64_t n)
{
	buildids(n, true, false);
}

static void
bomb_short_buildids(uint64_t n)
{
	buildids(n, false, true);
}

static void
bomb_tasks(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		fork_task((uint32_t)i + 2, (uint32_t)i + 2, 1);
	}
	sample((uint32_t)n, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_mapped_tasks(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		fork_task((uint32_t)i + 2, (uint32_t)i + 2, 1);
		map((uint32_t)i + 2, TEXT, 4096, "/bin/true", 1);
	}
	sample((uint32_t)n, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_threads(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fork_task(1, (uint32_t)i + 2, 1);
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

/* Whose namespaces are their own. */
static void
bomb_namespaces(uint64_t n)
{
	uint64_t links[32];

	for (uint64_t i = 0; i < n; i++) {
		const struct perf_sample_id sid = id_of((uint32_t)i + 2, (uint32_t)i + 2);

		for (int k = 0; k < 32; k++)
			links[k] = i;
		give(record_build_namespaces(&records, &attr, &sid, (uint32_t)i + 2,
					     (uint32_t)i + 2, links, 16));
	}
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

/* One process execs again and again, in a crowd of threads that exec ends. */
static void
bomb_maps(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		map(1 + (uint32_t)(i / 60000), TEXT + i % 60000 * 8192, 4096, "/bin/true", 1);
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_overlapping_maps(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		map(1, TEXT + i * 4096, (n - i) * 2 * 4096, "/bin/true", 1);
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_nested_maps(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		map(1, TEXT, (1 + n) * 8192, "/bin/true", 1);
		map(1, TEXT + i * 8192, 4096, "/bin/false", 2);
	}
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

/* Children of a process with many maps, each of which maps one more. */
static void
bomb_forks_of_maps(uint64_t n)
{
	for (uint64_t i = 0; i < 65000; i++)
		map(1, TEXT + i * 8192, 4096, "/bin/true", 1);
	for (uint64_t i = 0; i < n; i++) {
		fork_task((uint32_t)i + 2, (uint32_t)i + 2, 1);
		map((uint32_t)i + 2, TEXT, 4096, "/bin/false", 2);
	}
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_lengths(uint64_t n) /* of maps of one file */
{
	for (uint64_t i = 0; i < n; i++) {
		map(1, TEXT, 4096 * (i + 1), "/bin/true", 1);
		sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
	}
}

/* Of what is at one address of the kernel, one after another. */
static void
bomb_names(uint64_t n)
{
	const struct perf_sample_id sid = id_of(1, 1);
	char name[32];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "bpf_prog_%" PRIu64, i);
		give(record_build_ksymbol(&records, &attr, &sid, KERNEL, 64, 1, 0, name));
		sample(1, KERNEL, 0, PERF_RECORD_MISC_KERNEL);
	}
}

static void
bomb_objects(uint64_t n) /* of one path */
{
	for (uint64_t i = 0; i < n; i++) {
		map(1, TEXT + i * 4096, 4096, "/bin/true", i + 1);
		sample(1, TEXT + i * 4096, 0, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_inodes(uint64_t n) /* of paths of their own */
{
	char name[32];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/nowhere/%" PRIu64, i);
		map(1, TEXT + i * 4096, 4096, name, i + 1);
		sample(1, TEXT + i * 4096, 0, PERF_RECORD_MISC_USER);
	}
}

static void
bomb_rows(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sample((uint32_t)i + 1, TEXT + i * 16, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_chains(uint64_t n)
{
	static uint64_t ips[8000];

	for (size_t k = 0; k < 8000; k++)
		ips[k] = k ? TEXT + k * 16 : PERF_CONTEXT_USER;
	for (uint64_t i = 0; i < n; i++) {
		ips[1] = TEXT + i;
		chain(ips, 8000, ips[1]);
	}
}

static void
bomb_gaps(uint64_t n)
{
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++) {
		const struct gap g = { .from_ns = i * 10,
				       .until_ns = i * 10 + 5,
				       .cause = LOSS_KERNEL_SAMPLES,
				       .cpu = GAP_CPU_ALL };

		if (payload.len == 0)
			gap_begin(&payload);
		gap_add(&payload, &g);
		if (payload.len >= 1u << 20)
			block(BLOCK_GAP, &payload);
	}
	if (payload.len)
		block(BLOCK_GAP, &payload);
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
	buf_done(&payload);
}

static void
bomb_losses(uint64_t n)
{
	struct loss *l = loss_new();
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++)
		check(loss_add(l, (uint32_t)(i % 4096), LOSS_KERNEL_SAMPLES, 1));
	for (uint64_t i = 0; i < n; i += 4096) {
		loss_encode(l, &payload);
		block(BLOCK_LOSS, &payload);
	}
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
	buf_done(&payload);
	loss_free(l);
}

static void
bomb_blocks(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		sample(1, TEXT + i, 0, PERF_RECORD_MISC_USER);
		flush_records();
		check(recording_writer_flush(writer, NULL));
	}
}

/* Blocks that say of nothing that it is complete. */
static void
bomb_incomplete(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		sample(1, TEXT + i, 0, PERF_RECORD_MISC_USER);
		check(recording_writer_records(writer, buf_span(&records), NULL, NULL));
		buf_clear(&records);
		check(recording_writer_flush(writer, NULL));
	}
}

static void
bomb_foreign(uint64_t n)
{
	struct buf payload;

	buf_init(&payload);
	for (uint64_t i = 0; i < n; i++) {
		name_of(i);
		foreign_add(&payload, FOREIGN_FEATURE, (uint32_t)i % 32,
			    span_of(long_name, length));
		if (payload.len >= 1u << 20)
			block(BLOCK_FOREIGN, &payload);
	}
	if (payload.len)
		block(BLOCK_FOREIGN, &payload);
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
	buf_done(&payload);
}

static void
bomb_one(uint64_t n)
{
	(void)n;
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_metas(uint64_t n)
{
	char name[32];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "event%" PRIu64, i);
		add_event(name, i + 2, 1);
		check(recording_writer_block(writer, BLOCK_META, span_of(NULL, 0), NULL));
	}
	sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
}

static void
bomb_lives(uint64_t n) /* of one process, which execs */
{
	for (uint64_t i = 0; i < n; i++) {
		const struct perf_sample_id sid = id_of(1, 1);

		give(record_build_comm(&records, &attr, &sid, 1, 1, "x",
				       PERF_RECORD_MISC_COMM_EXEC));
		map(1, TEXT, 4096, "/bin/true", i);
		sample(1, TEXT, 0, PERF_RECORD_MISC_USER);
	}
}

static void
samples_of_events(uint64_t n, uint64_t ip, uint16_t misc)
{
	for (uint64_t i = 0; i < n; i++) {
		struct perf_sample_id sid = id_of(1, 1);
		const struct perf_sample s = { .have = attr.sample_type, .ip = ip, .period = 1 };

		sid.id = i + 2;
		give(record_sample_build(&records, &sid, &s, misc));
	}
}

static void
bomb_samples_of_events(uint64_t n)
{
	samples_of_events(n, TEXT, PERF_RECORD_MISC_USER);
}

/* Of tracepoints whose formats are full of fields: see full_format(). */
static void
bomb_formats(uint64_t n)
{
	static uint8_t raw[256];

	memset(raw, 'x', sizeof(raw));
	for (uint64_t i = 0; i < n; i++) {
		struct perf_sample_id sid = id_of(1, 1);
		const struct perf_sample s = { .have = attr.sample_type,
					       .ip = TEXT,
					       .period = 1,
					       .raw = span_of(raw, sizeof(raw)) };

		sid.id = i + 2;
		give(record_sample_build(&records, &sid, &s, PERF_RECORD_MISC_USER));
	}
}

/* Each event is read twice, on a CPU of its own. */
static void
bomb_counts(uint64_t n)
{
	for (uint64_t time = 1; time <= 2; time++)
		for (uint64_t i = 0; i < n; i++) {
			struct perf_sample_id sid = id_of(UINT32_MAX, UINT32_MAX);
			const uint64_t words[] = { htole64(time * 1000), htole64(i + 2) };

			sid.id = i + 2;
			sid.cpu = (uint32_t)i;
			sid.time = now_ns = time * UINT64_C(1000000000);
			give(record_build_read(&records, &attr, &sid, UINT32_MAX, UINT32_MAX,
					       span_of(words, sizeof(words))));
		}
}

static void
poke(uint64_t address, uint32_t nth)
{
	const struct perf_sample_id sid = id_of(0, 0);

	buf_u32(&records, PERF_RECORD_TEXT_POKE);
	buf_u32(&records, 64u << 16);
	buf_u64(&records, address);
	buf_u32(&records, 4 | 4u << 16);
	buf_u32(&records, nth);
	buf_u64(&records, nth + 1);
	buf_u64(&records, 0); /* pid, tid */
	buf_u64(&records, sid.time);
	buf_u64(&records, 0); /* cpu */
	buf_u64(&records, sid.id);
	give(0);
}

/* The kernel writes over one instruction (TEXT_POKE), in a function that is sampled. */
static void
bomb_pokes(uint64_t n)
{
	ksyms(1, false);
	for (uint64_t i = 0; i < n; i++)
		poke(KERNEL, (uint32_t)i);
	sample(1, KERNEL, 0, PERF_RECORD_MISC_KERNEL);
}

/*
 * One event has samples in each of the kernel's functions, the others in the first. That one is written to half a
 * million times, and as often all of them by turns. Code is in a vmlinux that has _text where it ran.
 */
static void
bomb_poked_events(uint64_t n)
{
	const struct perf_sample_id sid = id_of(UINT32_MAX, 0);
	const struct perf_mmap text = { .pid = UINT32_MAX,
					.addr = KERNEL,
					.len = 1u << 30,
					.pgoff = KERNEL,
					.filename = "[kernel.kallsyms]_text" };

	check(record_build_mmap2(&records, &attr, &sid, &text, PERF_RECORD_MISC_KERNEL));
	ksyms(n, false);
	for (uint32_t i = 0; i < 1u << 19; i++) {
		poke(KERNEL, i);
		poke(KERNEL + i % n * 64, i);
	}
	samples_of_events(n, KERNEL, PERF_RECORD_MISC_KERNEL);
}

enum events { ONE, MANY, MANY_COUNTED, MANY_LONG, MANY_SAME, MANY_FORMATS, IDS };

static const struct kind {
	const char *name;
	void (*make)(uint64_t n);
	enum events events;
	uint32_t index_every;
} kinds[] = {
	{ "paths", bomb_paths, ONE, 0 },
	{ "ends", bomb_ends, ONE, 0 },
	{ "comms", bomb_comms, ONE, 0 },
	{ "cgroups", bomb_cgroups, ONE, 0 },
	{ "short-cgroups", bomb_short_cgroups, ONE, 0 },
	{ "ksymbols", bomb_ksymbols, ONE, 0 },
	{ "short-ksymbols", bomb_short_ksymbols, ONE, 0 },
	{ "ksyms", bomb_ksyms, ONE, 0 },
	{ "short-ksyms", bomb_short_ksyms, ONE, 0 },
	{ "jitsyms", bomb_jitsyms, ONE, 0 },
	{ "long-jitsyms", bomb_long_jitsyms, ONE, 0 },
	{ "jitted", bomb_jitted, ONE, 0 },
	{ "aux", bomb_aux, ONE, 0 },
	{ "aux-runs", bomb_aux_runs, ONE, 0 },
	{ "buildids", bomb_buildids, ONE, 0 },
	{ "short-buildids", bomb_short_buildids, ONE, 0 },
	{ "tasks", bomb_tasks, ONE, 0 },
	{ "mapped-tasks", bomb_mapped_tasks, ONE, 0 },
	{ "threads", bomb_threads, ONE, 0 },
	{ "namespaces", bomb_namespaces, ONE, 0 },
	{ "maps", bomb_maps, ONE, 0 },
	{ "overlapping-maps", bomb_overlapping_maps, ONE, 0 },
	{ "nested-maps", bomb_nested_maps, ONE, 0 },
	{ "forks-of-maps", bomb_forks_of_maps, ONE, 0 },
	{ "lengths", bomb_lengths, ONE, 0 },
	{ "names", bomb_names, ONE, 0 },
	{ "objects", bomb_objects, ONE, 0 },
	{ "inodes", bomb_inodes, ONE, 0 },
	{ "pokes", bomb_pokes, ONE, 0 },
	{ "poked-events", bomb_poked_events, MANY, 0 },
	{ "rows", bomb_rows, ONE, 0 },
	{ "chains", bomb_chains, ONE, 0 },
	{ "gaps", bomb_gaps, ONE, 0 },
	{ "losses", bomb_losses, ONE, 0 },
	{ "blocks", bomb_blocks, ONE, 0 },
	{ "indexes", bomb_blocks, ONE, 1 },
	{ "incomplete", bomb_incomplete, ONE, 0 },
	{ "foreign", bomb_foreign, ONE, 0 },
	{ "events", bomb_samples_of_events, MANY, 0 },
	{ "counts", bomb_counts, MANY_COUNTED, 0 },
	{ "same-events", bomb_samples_of_events, MANY_SAME, 0 },
	{ "long-events", bomb_one, MANY_LONG, 0 },
	{ "formats", bomb_formats, MANY_FORMATS, 0 },
	{ "ids", bomb_one, IDS, 0 },
	{ "metas", bomb_metas, ONE, 0 },
	{ "lives", bomb_lives, ONE, 0 },
};

/* As many fields as a format has room for; some are the whole of the others, as text. */
static void
full_format(uint64_t event)
{
	static char text[EVENT_FORMAT_BYTES_MAX];
	size_t at = (size_t)snprintf(text, sizeof(text),
				     "bomb\nname: event%" PRIu64 "\nID: 1\nformat:\n", event);

	for (unsigned i = 0; at + 80 < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "\tfield:%s f%x%s;\toffset:%u;\tsize:%u;\tsigned:0;\n",
				       i % 2 ? "char" : "unsigned char", i, i % 2 ? "[200]" : "",
				       i % 8, i % 2 ? 200 : 1);
	check(event_set_format(meta->events, event + 1, text));
}

static void
make_meta(enum events events, uint64_t n)
{
	char name[32];

	attr = (struct event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_ENCODE_MAX,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
	if (events == MANY_FORMATS) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.sample_type |= PERF_SAMPLE_RAW;
	}
	if (events == MANY_COUNTED) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
		attr.sample_period = 0;
		attr.read_format = PERF_FORMAT_ID;
	}
	meta = recording_meta_new();
	if (!meta)
		errx(1, "out of memory");
	memset(meta->file_id, 7, sizeof(meta->file_id));
	meta->start = (struct clock_triple){ UINT64_C(1700000000000000000), 1, 1 };
	meta->clockid = 1;
	meta->page_size = 4096;
	meta->cpus_possible = meta->cpus_online = 1;
	recording_meta_set(&meta->arch, "x86_64");
	meta->kernel_build_id = buildid_of(BUILDID_GNU, build_id, sizeof(build_id));
	add_event("cpu-clock", 1, events == IDS ? n : 1);
	for (uint64_t i = 0; i < n && events != ONE && events != IDS; i++) {
		snprintf(name, sizeof(name), events == MANY_SAME ? "event" : "event%" PRIu64, i);
		add_event(events == MANY_LONG ? name_of(i) : name, i + 2, 1);
		if (events == MANY_FORMATS)
			full_format(i);
	}
}

int
main(int argc, char **argv)
{
	const struct kind *k = kinds, *end = kinds + sizeof(kinds) / sizeof(kinds[0]);
	uint64_t n;

	if (argc != 4)
		errx(64, "usage: bomb_maker KIND N FILE");
	/* "full-KIND": with names that the kernel can have. */
	if (strncmp(argv[1], "full-", 5) == 0) {
		length = FULL;
		argv[1] += 5;
	}
	while (k < end && strcmp(k->name, argv[1]) != 0)
		k++;
	if (k == end)
		errx(64, "%s: no such kind", argv[1]);
	n = strtoull(argv[2], NULL, 10);
	buf_init(&records);
	make_meta(k->events, n);
	begin(k->index_every, argv[3]);
	k->make(n);
	flush_records();
	check(recording_writer_close(writer, 0, NULL));
	recording_meta_free(meta);
	buf_done(&records);
	return 0;
}
