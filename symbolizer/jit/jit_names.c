/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/jit/jit_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "format/jit/jit_table.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"

#define MAP_BYTES_MAX (64u << 20)
#define DUMPS_MAX 1024u /* that a recording names */
/* Of all processes, of which each has a fair_part: one file may have many names. Seconds, each. */
#define ALL_MAPS_BYTES_MAX (UINT64_C(512) << 20)
#define ALL_FRAMES_BYTES_MAX (64u << 20)
#define ALL_DUMPS_RECORDS_MAX (UINT64_C(1) << 22)

struct jit_dump {
	uint32_t pid;
	uint64_t ino; /* 0: not known */
	char *path;
};

struct jit_code {
	uint32_t pid;
	uint64_t start_ns;	 /* of the process: another one may have had its number */
	struct jit_table *table; /* NULL: no file names anything */
	struct jitdump_frames frames;
	char dso[32];
};

struct jit_names {
	struct jit_names_options options;
	struct jit_dump *dumps;
	size_t nr_dumps, cap_dumps;
	struct jit_code *codes;
	size_t nr_codes, cap_codes;
	struct slots by_process; /* of codes */
	size_t entries, frame_bytes;
	uint64_t map_bytes, dump_records; /* that may still be read */
	uint64_t left_out, doubtful;
};

struct jit_names *
jit_names_new(const struct jit_names_options *options)
{
	struct jit_names *j = calloc(1, sizeof(*j));

	if (!j) {
		jit_kept_free(options->kept);
		return NULL;
	}
	j->options = *options;
	j->map_bytes = ALL_MAPS_BYTES_MAX;
	j->dump_records = ALL_DUMPS_RECORDS_MAX;
	return j;
}

void
jit_names_free(struct jit_names *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->nr_dumps; i++)
		free(j->dumps[i].path);
	for (size_t i = 0; i < j->nr_codes; i++) {
		jit_table_free(j->codes[i].table);
		jitdump_frames_done(&j->codes[i].frames);
	}
	free(j->dumps);
	free(j->codes);
	slots_done(&j->by_process);
	jit_kept_free(j->options.kept);
	free(j);
}

uint64_t
jit_names_left_out(const struct jit_names *j)
{
	return j->left_out + (j->options.kept ? jit_kept_left_out(j->options.kept) : 0);
}

uint64_t
jit_names_doubtful(const struct jit_names *j)
{
	return j->doubtful;
}

uint64_t
jit_names_bad_blocks(const struct jit_names *j)
{
	return j->options.kept ? jit_kept_bad_blocks(j->options.kept) : 0;
}

static bool
code_same(const void *owner, uint32_t index, const void *key)
{
	const struct jit_code *code = &((const struct jit_names *)owner)->codes[index];
	const struct jit_process *process = key;

	return code->pid == process->pid && code->start_ns == process->start_ns;
}

static uint32_t
code_hash(const struct jit_process *process)
{
	return (uint32_t)slots_mix(process->pid, process->start_ns);
}

static struct jit_code *
code_of(const struct jit_names *j, const struct jit_process *process)
{
	uint32_t at = slots_find(&j->by_process, code_hash(process), code_same, j, process);

	return at == SLOTS_NONE ? NULL : &j->codes[at];
}

/* --- dumps --------------------------------------------------------------------------------- */

static size_t
dumps_of(const struct jit_names *j, uint32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < j->nr_dumps; i++)
		n += j->dumps[i].pid == pid;
	return n;
}

static const struct jit_dump *
find_dump(const struct jit_names *j, uint32_t pid, const char *path)
{
	for (size_t i = 0; i < j->nr_dumps; i++)
		if (j->dumps[i].pid == pid && (!path || strcmp(j->dumps[i].path, path) == 0))
			return &j->dumps[i];
	return NULL;
}

int
jit_names_map(struct jit_names *j, const struct perf_mmap *map)
{
	struct jit_dump dump = { .pid = map->pid };

	if (!jitdump_is_path(map->filename) || find_dump(j, map->pid, map->filename) ||
	    !fair_part_has(DUMPS_MAX - j->nr_dumps, dumps_of(j, map->pid), 1))
		return 0;
	dump.ino = map->ino;
	dump.path = strdup(map->filename);
	if (!dump.path || array_reserve(j->dumps, j->nr_dumps, j->cap_dumps, 1) != 0) {
		free(dump.path);
		return -FMT_E_NOMEM;
	}
	j->dumps[j->nr_dumps++] = dump;
	return 0;
}

bool
jit_names_timed(const struct jit_names *j, uint32_t pid)
{
	return (j->options.timed && find_dump(j, pid, NULL)) ||
		(j->options.kept && jit_kept_timed(j->options.kept, pid));
}

/* --- reading ------------------------------------------------------------------------------- */

static int
read_lines(struct span text, struct jit_table *table)
{
	struct perf_map_line line;
	int r = 0;

	while (r >= 0 && perf_map_next(&text, &line))
		r = jit_table_add(table, line.start, line.size, 0, line.name, line.name_len, NULL);
	return r < 0 ? r : 0;
}

static int
read_map(struct jit_names *j, struct io_source *file, struct jit_table *table)
{
	int64_t size = file->size(file);
	size_t want, have = 0;
	uint8_t *text;
	ssize_t n = 1;
	int err;

	if (size <= 0)
		return 0;
	want = size < MAP_BYTES_MAX ? (size_t)size : MAP_BYTES_MAX;
	if (want > fair_part(j->map_bytes, 0)) {
		want = (size_t)fair_part(j->map_bytes, 0);
		j->left_out++;
	}
	j->map_bytes -= want;
	if (want == 0)
		return 0;
	text = malloc(want);
	if (!text)
		return -FMT_E_NOMEM;
	while (have < want && (n = file->read(file, have, text + have, want - have)) > 0)
		have += (size_t)n;
	err = read_lines(span_of(text, have), table);
	free(text);
	return err;
}

/* What cannot be read names nothing; only memory ends it. */
static int
read_files(struct jit_names *j, const struct jit_process *process, struct jit_table *table,
	   struct jitdump_frames *frames)
{
	const uint64_t part = fair_part(j->dump_records, 0);
	struct io_source *file = jit_files_map(process);
	uint64_t records = part;
	int err = 0;

	if (file) {
		err = read_map(j, file, table);
		file->close(file);
	}
	for (size_t i = 0; err != -FMT_E_NOMEM && i < j->nr_dumps; i++) {
		if (j->dumps[i].pid != process->pid)
			continue;
		file = jit_files_dump(process, j->dumps[i].path, j->dumps[i].ino);
		if (!file)
			continue;
		err = jitdump_read(file, &records, table, frames);
		j->left_out += err == -FMT_E_TOO_BIG;
		file->close(file);
	}
	j->dump_records -= part - records;
	return err == -FMT_E_NOMEM ? err : 0;
}

static int
read_table(struct jit_names *j, const struct jit_process *process, struct jit_code *code)
{
	struct jit_table *table = jit_table_new();
	struct jitdump_frames frames = { .bytes_max = fair_part(
						 ALL_FRAMES_BYTES_MAX - j->frame_bytes, 0) };
	int err = table ? read_files(j, process, table, &frames) : -FMT_E_NOMEM;
	size_t count = table ? jit_table_count(table) : 0;
	bool fits = fair_part_has(JIT_NAMES_ENTRIES_MAX - j->entries, 0, count);

	if (err == 0 && count > 0 && fits)
		err = jit_table_settle(table);
	if (err == 0 && !fits)
		j->left_out += count;
	if (err < 0 || count == 0 || !fits) {
		jit_table_free(table);
		jitdump_frames_done(&frames);
		return err;
	}
	j->entries += count;
	j->left_out += jit_table_left_out(table);
	j->frame_bytes += frames.bytes.len;
	code->table = table;
	code->frames = frames;
	return 0;
}

/* A time of the recording, as files have theirs. */
static uint64_t
file_time(const struct jit_names *j, uint64_t time_ns)
{
	const int64_t shifted = (int64_t)(time_ns + (uint64_t)j->options.shift_ns);

	return time_ns == 0 ? 0 : shifted > 0 ? (uint64_t)shifted : 1;
}

static int
new_code(struct jit_names *j, const struct jit_process *process, struct jit_code **ret)
{
	struct jit_code code = { .pid = process->pid, .start_ns = process->start_ns };
	struct jit_process bounded = *process;
	int err = array_reserve(j->codes, j->nr_codes, j->cap_codes, 1);

	if (err == 0)
		err = slots_add(&j->by_process, code_hash(process), j->nr_codes);
	if (err < 0)
		return err;
	snprintf(code.dso, sizeof(code.dso), "/tmp/perf-%" PRIu32 ".map", code.pid);
	*ret = &j->codes[j->nr_codes++];
	**ret = code;
	if (j->options.kept)
		bounded.until_ns = jit_kept_until(j->options.kept, process->pid, process->alive_ns);
	if (!j->options.files)
		return 0;
	bounded.start_ns = file_time(j, bounded.start_ns);
	bounded.alive_ns = file_time(j, bounded.alive_ns);
	bounded.until_ns = file_time(j, bounded.until_ns);
	err = read_table(j, &bounded, *ret);
	j->doubtful += j->options.doubtful && (*ret)->table;
	return err;
}

int
jit_names_find(struct jit_names *j, const struct jit_process *process, uint64_t address,
	       uint64_t time_ns, struct jit_name *ret)
{
	struct jit_code *code = code_of(j, process);
	struct jit_symbol symbol;
	int r = code ? 0 : new_code(j, process, &code);

	if (r == 0 && j->options.kept)
		r = jit_kept_find(j->options.kept, process->pid, address, time_ns, &symbol);
	if (r == 0 && code->table)
		r = jit_table_find(code->table, address, j->options.timed ? time_ns : UINT64_MAX,
				   &symbol);
	if (r <= 0)
		return r;
	*ret = (struct jit_name){ symbol.start, symbol.name, code->dso };
	return 1;
}

int
jit_names_know(struct jit_names *j, const struct jit_process *process)
{
	struct jit_code *code = code_of(j, process);
	int err;

	if (j->options.kept && jit_kept_has(j->options.kept, process->pid))
		return 1;
	err = code ? 0 : new_code(j, process, &code);
	return err ? err : code->table != NULL;
}

int
jit_names_frames(struct jit_names *j, const struct jit_process *process, uint64_t address,
		 uint64_t time_ns, struct jit_frames *ret)
{
	struct jit_code *code = code_of(j, process);
	struct jit_symbol symbol;
	struct span eh_frame;
	int r = code ? 0 : new_code(j, process, &code);

	if (r < 0 || !code->table || code->frames.nr == 0 ||
	    !jit_table_find(code->table, address, j->options.timed ? time_ns : UINT64_MAX,
			    &symbol) ||
	    !jitdump_frames_find(&code->frames, symbol.order, &eh_frame))
		return r;
	*ret = (struct jit_frames){ code->table, symbol.order, symbol.start, symbol.size,
				    eh_frame };
	return 1;
}
