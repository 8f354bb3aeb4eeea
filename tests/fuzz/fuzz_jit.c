/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a perf map, as a jitdump, and as what both say of addresses; and as files that grow,
 * of which the recorder's helper picks what addresses need.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/bytes/io.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"
#include "recorder/host/jit_picker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(struct jit_table *t)
{
	struct jit_symbol symbol;

	if (jit_table_settle(t) != 0)
		abort();
	for (uint64_t address = 0; address < 64; address++)
		for (uint64_t at = 0; at < 4; at++)
			if (jit_table_find(t, address << 8, at << 62, &symbol) &&
			    (symbol.start > address << 8 || !symbol.name[0]))
				abort();
	jit_table_free(t);
}

#define WANTED 64

/* What is told holds one of the addresses, and is what a reader takes. */
static int
told(void *arg, const struct jitsym *s)
{
	bool holds = false;

	(void)arg;
	for (uint64_t i = 0; i < WANTED; i++)
		holds |= i << 8 >= s->start && i << 8 < s->start + s->size;
	if (!holds || s->start + s->size <= s->start || s->name_len > 4095)
		abort();
	return 0;
}

static void
pick(const uint8_t *data, size_t size)
{
	struct jit_picker *p = jit_picker_new();
	int fd = memfd_create("fuzz", 0);
	uint64_t wanted[WANTED];

	if (!p || fd < 0)
		abort();
	for (uint64_t i = 0; i < WANTED; i++)
		wanted[i] = i << 8;
	for (size_t part = 1; part <= 2; part++) {
		const size_t until = size * part / 2;

		if (pwrite(fd, data, until, 0) != (ssize_t)until ||
		    jit_picker_want(p, wanted, WANTED / 2 * part) < 0 ||
		    jit_picker_read(p, fd, &fd, 1, part, told, NULL) < 0)
			abort();
	}
	jit_picker_free(p);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct io_source *file = io_source_memory(data, size);
	struct span text = span_of(data, size);
	struct jit_table *t = jit_table_new();
	struct perf_map_line line;
	uint64_t budget = 1000000;
	struct jitdump_frames frames = { .bytes_max = 4096 };
	struct span frame;

	if (!t || !file)
		abort();
	while (perf_map_next(&text, &line)) {
		if (line.name_len == 0 || memchr(line.name, 0, line.name_len) ||
		    line.start + line.size <= line.start)
			abort();
		if (jit_table_add(t, line.start, line.size, 0, line.name, line.name_len, NULL) < 0)
			abort();
	}
	check(t);
	t = jit_table_new();
	if (!t)
		abort();
	jitdump_read(file, &budget, t, &frames);
	file->close(file);
	for (uint32_t i = 0; i < jit_table_count(t) && i < 1000; i++)
		if (jitdump_frames_find(&frames, i, &frame) &&
		    (frame.len == 0 || frame.len > JITDUMP_FRAME_BYTES_MAX))
			abort();
	if (frames.bytes.len > frames.bytes_max)
		abort();
	jitdump_frames_done(&frames);
	check(t);
	pick(data, size);
	return 0;
}
