/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_reader: what a perf.data holds, in its order, from any source of bytes.
 *
 * File mode and pipe mode (the header tells, not where the bytes come from); attrs of every
 * size; records packed by perf record -z; a file whose recorder was killed, or that was cut:
 * as far as whole records go. What cannot be read is passed over where the next record can
 * still be found, and counted. Little-endian only, of any architecture and word size. Memory
 * is bounded by the largest record with what follows it.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_READER_H
#define FORMAT_PERFDATA_PERFDATA_READER_H

#include "format/block/recording_meta.h"
#include "format/bytes/io.h"
#include "format/perfdata/perfdata_header.h"
#include "format/record/perf_record.h"

/* A section, or a record with what follows it, that takes more than this is passed over. */
#define PERFDATA_ITEM_MAX (32u << 20)

struct perfdata_reader;

enum perfdata_item_kind {
	PERFDATA_ITEM_FILE,    /* the file's header, which comes first; id: PERFDATA_MODE_* */
	PERFDATA_ITEM_FEATURE, /* a section of the header (of a file: before all records) */
	PERFDATA_ITEM_RECORD,  /* of the kernel, or as the kernel's: types below 64 */
	PERFDATA_ITEM_TOOL,    /* of perf; bytes are the record and what follows it */
	PERFDATA_ITEM_ROUND,   /* FINISHED_ROUND: complete_ns */
};

struct perfdata_item {
	enum perfdata_item_kind kind;
	uint32_t id;	   /* PERFDATA_MODE_*, bit of the section, type of the record */
	uint64_t offset;   /* in the file; of a packed record that of its container */
	struct span bytes; /* valid until the next call */
	/* RECORD: taken apart. parsed false: no event of the file could. */
	bool parsed;
	int event; /* index in the meta's events, -1 none */
	struct perf_record record;
	/*
	 * ROUND: all records older than this have come; 0: nothing is known yet. By the rule
	 * that perf flushes by: what a pass over the rings had seen is complete when the
	 * *next* pass is done.
	 */
	uint64_t complete_ns;
	bool meta_changed; /* the meta has another event, id or name since the last item */
};

/* What was wrong with the file; complete at the end. */
struct perfdata_health {
	bool unfinished;	  /* its recorder never came to writing the header's end */
	uint64_t skipped;	  /* records and sections that could not be used */
	uint64_t unpacked_failed; /* packed records that could not be unpacked */
	uint64_t packed;	  /* COMPRESSED and COMPRESSED2 records: containers, not items */
	struct fmt_where first;	  /* the first of skipped and unpacked_failed */
};

/*
 * Opens, and reads ahead as far as the file tells of itself, so that the meta is known before
 * the first record. The source is owned from here on, also on failure. What
 * perfdata_header_decode() says; -FMT_E_UNSUPPORTED (one file of a directory of several),
 * -FMT_E_CORRUPT (no attr can be read), -FMT_E_IO, -FMT_E_NOMEM.
 */
int perfdata_reader_open(struct io_source *source, struct perfdata_reader **ret,
			 struct fmt_where *where);
/* Likewise, of a directory with several files, the one that is called "data". */
int perfdata_reader_open_first(struct io_source *source, struct perfdata_reader **ret,
			       struct fmt_where *where);
/*
 * Opens another file of the directory, "data.0" and so on, which has nothing but records: of the events of
 * first, whose meta it shares, and which is closed after it. The source is owned from here on, also on
 * failure. 0, -FMT_E_NOMEM.
 */
int perfdata_reader_open_other(struct perfdata_reader *first, struct io_source *source,
			       struct perfdata_reader **ret, struct fmt_where *where);
void perfdata_reader_close(struct perfdata_reader *r);

/* ns: of all records that it gave; 0: of none. */
uint64_t perfdata_reader_time(const struct perfdata_reader *r);

/*
 * Events, machine and clocks, as far as the file says; the rest is the caller's to fill in.
 * Borrowed, for the reader's life. clockid is PERFDATA_CLOCK_OWN without -k, and
 * start.monotonic is on the clock of the records, whichever that is.
 */
struct recording_meta *perfdata_reader_meta(struct perfdata_reader *r);
#define PERFDATA_CLOCK_OWN UINT32_MAX /* the kernel's own clock (sched_clock), of no known epoch */

/*
 * The next item: 1, 0 at the end, or an error that ends the file, after everything before it
 * was given: -FMT_E_TRUNCATED (it ends in the middle), -FMT_E_CORRUPT (bytes that are no
 * record: where the next one begins is not known), -FMT_E_IO, -FMT_E_NOMEM.
 */
int perfdata_reader_next(struct perfdata_reader *r, struct perfdata_item *ret,
			 struct fmt_where *where);

const struct perfdata_health *perfdata_reader_health(const struct perfdata_reader *r);

#endif
