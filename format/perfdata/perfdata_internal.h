/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_internal: what the parts of perfdata_reader share, from the ground up: sections and
 * records (perfdata_parts.c), opening (perfdata_open.c: the header, the attrs, what the file says
 * of itself), and the walk over its items (perfdata_reader.c).
 */
#ifndef FORMAT_PERFDATA_PERFDATA_INTERNAL_H
#define FORMAT_PERFDATA_PERFDATA_INTERNAL_H

#include "format/perfdata/perfdata_inflate.h"
#include "format/perfdata/perfdata_reader.h"
#include "format/perfdata/source_window.h"

enum perfdata_phase {
	PERFDATA_PHASE_FILE,
	PERFDATA_PHASE_FEATURES,
	PERFDATA_PHASE_DATA,
	PERFDATA_PHASE_END,
};

struct perfdata_reader {
	uint32_t magic;
	struct io_source *source;
	struct source_window window;
	struct perfdata_header header;
	struct recording_meta *meta;
	struct perfdata_reader *first;	  /* the reader that owns meta; NULL: this one */
	bool directory;			  /* several files are expected */
	struct perfdata_inflate *inflate; /* NULL: nothing packed yet */
	uint64_t container;		  /* where the one that is being unpacked stands */
	bool unpacking;
	struct perfdata_health health;

	enum perfdata_phase phase;
	unsigned int feature; /* the next one to look for */
	uint64_t table;	      /* where its {offset, size} stands */
	uint64_t start, end;  /* of the data; end UINT64_MAX: to the end of the file */
	uint64_t offset;      /* of the next record */
	uint64_t known;	      /* records before this have had their say about the meta */
	bool meta_changed;

	uint64_t max_time, round_max; /* ns: of all records yet; at the last round */
	int ended;		      /* what next() goes on saying */
	struct fmt_where where;
};

/* Fills *where; returns error, which is negative. */
int perfdata_fail(int error, uint64_t offset, struct fmt_where *where);
/* n bytes at offset, or as many as there are; good until the next call. */
int perfdata_view(struct perfdata_reader *r, uint64_t offset, size_t n, struct span *ret,
		  struct fmt_where *where);
/* Counts something that is passed over; the first is kept for the message. */
void perfdata_skip(struct perfdata_reader *r, uint64_t *counter, uint64_t offset, const char *what,
		   uint64_t n);

/* The sections of a file's header, from the first on. */
void perfdata_features_begin(struct perfdata_reader *r);
/* The next one that is whole: 1, 0. */
int perfdata_next_feature(struct perfdata_reader *r, struct perfdata_item *ret,
			  struct fmt_where *where);

/* The record at offset, by its header: 1, 0 at the end of the data. */
int perfdata_record_at(struct perfdata_reader *r, uint64_t offset, struct span *ret,
		       struct fmt_where *where);
/* Bytes that follow a record outside of its size. */
uint64_t perfdata_payload_behind(uint32_t type, struct span record);

/* What a FEATURE record says of itself: the bit of its section, and the payload. */
bool perfdata_get_feature(struct span record, uint64_t *ret_bit, struct span *ret_payload);

/*
 * Take what a section, and what a record of a tool says, into the meta. One that does not
 * parse is counted; only a lack of memory is an error.
 */
int perfdata_apply_section(struct perfdata_reader *r, uint32_t feature, struct span payload,
			   uint64_t offset, struct fmt_where *where);
int perfdata_apply_record(struct perfdata_reader *r, uint32_t type, struct span record,
			  uint64_t offset, struct fmt_where *where);

/* Everything that opening is, with r->source and r->window set. */
int perfdata_open(struct perfdata_reader *r, struct fmt_where *where);

#endif
