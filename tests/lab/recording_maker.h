/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_maker: small recordings in memory, made by the real writer, and a sink that
 * fails when told to. Every sample has an ip of its own, so that a test can say which
 * samples came back, whether one came twice, and whether one was made up.
 */
#ifndef TESTS_LAB_RECORDING_MAKER_H
#define TESTS_LAB_RECORDING_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "format/bytes/io.h"
#include "format/recording/recording_reader.h"
#include "format/recording/recording_writer.h"

#define MAKER_SAMPLE_ID 100   /* + cpu: of the sampling event */
#define MAKER_SIDEBAND_ID 200 /* + cpu: of the dummy event */
#define MAKER_CPUS 4

/* What a sink wrote, and what is to go wrong; it outlives the sink. */
struct memory_file {
	uint8_t *p;
	size_t n, cap;
	unsigned int writes, cuts, syncs; /* calls so far */
	unsigned int fail_write;	  /* this call (1, 2...) and those after it fail; 0 none */
	unsigned int heal_after;	  /* failing calls until writing works again; 0 never */
	size_t short_bytes;		  /* that a failing write still leaves */
	int fail_errno;
	bool fail_sync, fail_cut, closed;
};

struct io_sink *memory_sink(struct memory_file *f);
void memory_file_done(struct memory_file *f);

/* Two events (sampling, dummy) with an id per CPU; seed decides the file id. */
struct recording_meta *maker_meta(uint8_t seed);
void maker_sample(struct buf *out, uint32_t cpu, uint64_t time, uint64_t ip);
void maker_comm(struct buf *out, uint32_t cpu, uint64_t time, uint32_t pid, const char *comm);

/*
 * Records of two CPUs in small blocks, with STATE, KSYMS and LOSS blocks between, closed in
 * order. Samples have the ips 1..samples.
 */
void maker_recording(struct memory_file *f, uint8_t seed, unsigned int samples,
		     uint32_t block_bytes, uint32_t index_every);

/* The ips of the samples in a payload, appended to ips; returns how many. */
size_t maker_ips(const struct event_set *events, struct span payload, uint64_t *ips, size_t max);

#endif
