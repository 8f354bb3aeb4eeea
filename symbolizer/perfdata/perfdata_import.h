/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_import: a perf.data in, a recording out.
 *
 * Records of the kernel go into RECORDS blocks byte for byte, `complete` by the rounds; all
 * else (sections of the header, records of perf's tools with what follows them) into FOREIGN
 * blocks byte for byte, in the order of the file; the build-ids of the BUILD_ID table besides
 * into BUILDIDS blocks, and what the kernel says it lost into the ledger. Not carried are the
 * containers of perf record -z: what was in them is. FEATURE records of a pipe become FEATURE
 * entries, as the sections of a file are. Prints nothing.
 */
#ifndef SYMBOLIZER_PERFDATA_PERFDATA_IMPORT_H
#define SYMBOLIZER_PERFDATA_PERFDATA_IMPORT_H

#include "format/block/loss.h"
#include "format/bytes/io.h"
#include "format/perfdata/perfdata_reader.h"

/* The files of a directory of perf record --threads but its first: what is in them, and names, for messages. */
struct perfdata_others {
	struct io_source **sources;
	char **names;
	size_t nr;
};

struct perfdata_import_result {
	uint64_t records, samples; /* of the kernel */
	uint64_t bad_records;	   /* of these, such as no event could parse: carried */
	uint64_t tool_records;	   /* of perf, without its containers */
	uint64_t lost;		   /* samples */
	uint64_t loss[LOSS_CAUSES];
	struct perfdata_health health;
	int ended;		/* 0; or why the file ended before its end: -FMT_E_TRUNCATED... */
	struct fmt_where where; /* of ended */
};

/*
 * Source and sink are owned from here on, also on failure. 0: the recording is whole, of as much as the
 * file had (ret->ended and ret->health tell). Negative: *ret_reading says whether it was the
 * perf.data that could not be read or the recording that could not be written.
 */
int perfdata_import(struct io_source *source, struct io_sink *sink,
		    struct perfdata_import_result *ret, bool *ret_reading, struct fmt_where *where);
/*
 * Likewise a directory, whose first file is the source; the others' sources are taken over (and are NULL after it).
 * others NULL: as perfdata_import().
 * Records go out about in the order of their times.
 */
int perfdata_import_directory(struct io_source *source, struct perfdata_others *others,
			      struct io_sink *sink, struct perfdata_import_result *ret,
			      bool *ret_reading, struct fmt_where *where);

/* Is anything of the file not in the recording? */
bool perfdata_import_whole(const struct perfdata_import_result *result);

#endif
