/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_sections: what a perf.data of a recording says besides its kernel records: the
 * sections of its header.
 *
 * What was imported goes out as it came in. Recordings of our own have hostname, release,
 * events, clocks, build-ids... told by their meta and their BUILDIDS blocks. A section that
 * speaks of the file it was in (AUXTRACE's offsets, DIR_FORMAT, COMPRESSED) is left out: the
 * export is another file, and the writer tells its own offsets.
 */
#ifndef SYMBOLIZER_PERFDATA_EXPORT_SECTIONS_H
#define SYMBOLIZER_PERFDATA_EXPORT_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/perfdata/perfdata_writer.h"
#include "format/record/perf_record.h"
#include "format/recording/recording_reader.h"
#include "symbolizer/perfdata/buildid_table.h"

/* Sections of imports that are kept; what is more is left out. No perf writes near it. */
#define EXPORT_SECTIONS_MAX (64u << 20)

struct export_sections {
	bool imported; /* from a perf.data: nothing about it is made up */
	bool aux;      /* some recording has AUX blocks */
	bool have[PERFDATA_FEATURES_MAX];
	struct buf payload[PERFDATA_FEATURES_MAX];
	size_t bytes;			 /* of imported payloads */
	uint64_t left_out;		 /* sections, or parts of one */
	struct buildid_table *build_ids; /* of our own recordings */
	uint64_t first_ns, last_ns;	 /* of the samples that were exported; first > last: none */
};

int export_sections_init(struct export_sections *s); /* 0, -FMT_E_NOMEM */
void export_sections_done(struct export_sections *s);

/*
 * Takes what a recording tells; of several, the first that tells a thing is believed. Walks the
 * reader from its first block to its end, of which only FOREIGN and BUILDIDS blocks are read,
 * and rewinds it. Its meta is complete after it. 0, or what the reader says.
 */
int export_sections_read(struct export_sections *s, struct recording_reader *reader,
			 struct fmt_where *where);

/* Looks at a record that goes out: its time if it is a sample, its build-id if it maps one. */
int export_sections_see(struct export_sections *s, const struct perf_record *record);

/*
 * Gives all of them to the writer: in pipe mode before the records, in file mode after them.
 * sample_times: those that were seen count, not those that were imported.
 */
int export_sections_write(struct export_sections *s, const struct event_set *events,
			  bool sample_times, struct perfdata_writer *w, struct fmt_where *where);

#endif
