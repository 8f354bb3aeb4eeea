/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of how many samples it is known which build of which file they were taken in:
 *
 *	ids [-v] RECORDING
 *
 * Counts samples of user mode in mapped files, and those of them whose file has a GNU build-id, or
 * any. Prints one line of JSON; -v instead a line for each sample: PID, id, path.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/block/buildids.h"
#include "format/model/task_model.h"
#include "format/recording/record_stream.h"

static struct task_model *model;

static void
see_block(void *arg, const struct block *block)
{
	struct buildid_entry e;
	size_t cursor = 0;

	(void)arg;
	if (block->header.type != BLOCK_BUILDIDS)
		return;
	while (buildids_next(block->payload, &cursor, &e) > 0)
		if (e.ino &&
		    task_model_set_build_id(model, e.maj, e.min, e.ino, e.ino_generation, &e.id))
			errx(1, "out of memory");
}

/* The file that a sample was taken in; NULL: none, or the kernel. */
static const struct map_object *
file_of(const struct perf_record *r)
{
	const struct task_map *map;

	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return NULL;
	map = task_model_map(model, r->sid.pid, r->sample.ip);
	return map && map->object->path[0] == '/' && map->object->path[1] != '/' ? map->object
										 : NULL;
}

static void
print(const struct perf_record *r, const struct map_object *o)
{
	printf("%u ", r->sid.pid);
	for (size_t i = 0; i < o->build_id.size; i++)
		printf("%02x", o->build_id.bytes[i]);
	printf("%s %s\n",
	       !o->build_id.size			 ? "-"
		       : o->build_id.kind == BUILDID_GNU ? ""
							 : "/surrogate",
	       o->path);
}

int
main(int argc, char **argv)
{
	uint64_t samples = 0, gnu = 0, any = 0;
	bool verbose = argc == 3 && strcmp(argv[1], "-v") == 0;
	struct recording_reader *reader;
	struct record_stream *stream;
	struct fmt_where where;
	struct stream_record sr;
	int fd, r;

	if (argc != 2 + verbose)
		errx(2, "usage: ids [-v] RECORDING");
	fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", argv[argc - 1]);
	model = task_model_new();
	if (!model || recording_reader_open(io_source_fd(fd), &reader, &where) < 0 ||
	    record_stream_open(reader, &stream) < 0)
		errx(1, "%s: %s", argv[argc - 1], where.detail);
	record_stream_on_block(stream, see_block, NULL);
	while ((r = record_stream_next(stream, &sr, &where)) > 0) {
		const struct map_object *o;

		if (!sr.record)
			continue;
		if (sr.record->type != REC_SAMPLE) {
			if (task_model_apply(model, sr.record) < 0)
				errx(1, "out of memory");
			continue;
		}
		o = file_of(sr.record);
		if (!o)
			continue;
		samples++;
		any += o->build_id.size > 0;
		gnu += o->build_id.size > 0 && o->build_id.kind == BUILDID_GNU;
		if (verbose)
			print(sr.record, o);
	}
	if (!verbose)
		printf("{\"samples\": %" PRIu64 ", \"gnu\": %" PRIu64 ", \"any\": %" PRIu64 "}\n",
		       samples, gnu, any);
	return r < 0;
}
