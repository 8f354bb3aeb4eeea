/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_maker: perf.data byte by byte, as perf's sources say it is, without any of the
 * code that reads or writes it here.
 */
#ifndef TESTS_LAB_PERFDATA_MAKER_H
#define TESTS_LAB_PERFDATA_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"

#define MAKER_SAMPLE_BYTES 48

/* perf_event_attr of size bytes: software event config, IDENTIFIER|IP|TID|TIME|PERIOD. */
void maker_attr(struct buf *b, uint32_t size, uint64_t config);

void maker_head(struct buf *b, uint32_t type, uint16_t misc, size_t size);
void maker_word_sample(struct buf *b, uint64_t id, uint64_t time, uint64_t ip);
void maker_word_comm(struct buf *b, uint64_t id, uint64_t time, uint32_t tid, const char *comm);
void maker_round(struct buf *b);
/* u32 length, bytes, padded to 64, as all of perf's strings in its header. */
void maker_string(struct buf *b, const char *s);
void maker_build_id(struct buf *b, uint16_t misc, const char *path, uint8_t fill);

/* Pipe mode: the header; an ATTR with n ids from first on; a FEATURE. */
void maker_pipe(struct buf *b);
void maker_attr_record(struct buf *b, uint32_t size, uint64_t config, uint64_t first, unsigned n);
void maker_feature_record(struct buf *b, uint64_t bit, const struct buf *payload);
void maker_update_name(struct buf *b, uint64_t id, const char *name);
void maker_update_unit(struct buf *b, uint64_t id, const char *unit);
void maker_update_scale(struct buf *b, uint64_t id, double scale);

/*
 * File mode, put together by maker_file(): attrs as they stand in the section without their
 * {offset, size}, which it makes from ids.
 */
struct maker_section {
	unsigned int bit;
	const struct buf *payload;
};

struct maker_file {
	struct {
		uint32_t size; /* of the attr */
		uint64_t config;
		uint64_t first_id;
		unsigned int nr_ids;
	} events[4];
	unsigned int nr_events;
	const struct buf *data;
	struct maker_section sections[8]; /* by ascending bit */
	unsigned int nr_sections;
	bool attrs_last; /* behind the sections, as perf inject has them */
	bool killed;	 /* data.size 0, bits set, no sections */
};

void maker_file(struct buf *b, const struct maker_file *f);

/* One zstd stream over all that is given to it; each piece is what a flush gives. */
struct maker_zstd;
struct maker_zstd *maker_zstd_new(void);
void maker_zstd_free(struct maker_zstd *z);
/* Appends raw packed as COMPRESSED (81) or COMPRESSED2 (83). */
void maker_packed(struct buf *b, struct maker_zstd *z, uint32_t type, const void *raw, size_t n);

#endif
