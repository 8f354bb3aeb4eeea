/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_header: how a perf.data begins, and the names of what it holds.
 *
 *  offset (file mode)
 *       0  u64    magic       "PERFILE2", as the machine that wrote it stores a u64
 *       8  u64    size        of this header: 104 (72 without features); 16 is pipe mode,
 *                             which ends here: everything else comes as records
 *      16  u64    attr_size   of an entry of the attrs section
 *      24  {u64 offset, u64 size}  attrs: {perf_event_attr, {offset, size} of its ids}
 *      40  {u64, u64}         data: the records
 *      56  {u64, u64}         event_types: of perf before 3.10; 0
 *      72  u64[4] features    bit n: there is a section n, see perfdata_feature
 *
 * {offset, size} of each section, in the order of their bits, stand behind the data.
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_HEADER_H
#define FORMAT_PERFDATA_PERFDATA_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

#define PERFDATA_MAGIC "PERFILE2"
#define PERFDATA_MAGIC_BYTES 8
#define PERFDATA_PIPE_HEADER_BYTES 16
#define PERFDATA_HEADER_BYTES 104
#define PERFDATA_FEATURES_MAX 256
#define PERFDATA_SECTION_BYTES 16 /* {offset, size} */

/* What an EVENT_UPDATE tells of its event. */
enum perfdata_update {
	PERFDATA_UPDATE_UNIT = 0,  /* text */
	PERFDATA_UPDATE_SCALE = 1, /* a double */
	PERFDATA_UPDATE_NAME = 2,  /* text */
};

/* number, name as perf report --stats has it */
#define PERFDATA_RECORDS(X)                                                                        \
	X(64, ATTR)                                                                                \
	X(65, EVENT_TYPE)                                                                          \
	X(66, TRACING_DATA)                                                                        \
	X(67, BUILD_ID)                                                                            \
	X(68, FINISHED_ROUND)                                                                      \
	X(69, ID_INDEX)                                                                            \
	X(70, AUXTRACE_INFO)                                                                       \
	X(71, AUXTRACE)                                                                            \
	X(72, AUXTRACE_ERROR)                                                                      \
	X(73, THREAD_MAP)                                                                          \
	X(74, CPU_MAP)                                                                             \
	X(75, STAT_CONFIG)                                                                         \
	X(76, STAT)                                                                                \
	X(77, STAT_ROUND)                                                                          \
	X(78, EVENT_UPDATE)                                                                        \
	X(79, TIME_CONV)                                                                           \
	X(80, FEATURE)                                                                             \
	X(81, COMPRESSED)                                                                          \
	X(82, FINISHED_INIT)                                                                       \
	X(83, COMPRESSED2)                                                                         \
	X(84, BPF_METADATA)                                                                        \
	X(85, SCHEDSTAT_CPU)                                                                       \
	X(86, SCHEDSTAT_DOMAIN)

enum perfdata_record_type {
#define X(number, name) PERFDATA_##name = number,
	PERFDATA_RECORDS(X)
#undef X
		PERFDATA_RECORD_END /* first type that has no name here */
};

/* Bits of sections that are looked into, made, or left out; of others it is enough to carry them. */
enum perfdata_feature {
	PERFDATA_FEATURE_TRACING_DATA = 1,
	PERFDATA_FEATURE_BUILD_ID = 2,
	PERFDATA_FEATURE_HOSTNAME = 3,
	PERFDATA_FEATURE_OSRELEASE = 4,
	PERFDATA_FEATURE_VERSION = 5,
	PERFDATA_FEATURE_ARCH = 6,
	PERFDATA_FEATURE_NRCPUS = 7,
	PERFDATA_FEATURE_CPUDESC = 8,
	PERFDATA_FEATURE_CPUID = 9,
	PERFDATA_FEATURE_CMDLINE = 11,
	PERFDATA_FEATURE_EVENT_DESC = 12,
	PERFDATA_FEATURE_BRANCH_STACK = 15,
	PERFDATA_FEATURE_GROUP_DESC = 17,
	PERFDATA_FEATURE_AUXTRACE = 18,
	PERFDATA_FEATURE_STAT = 19,
	PERFDATA_FEATURE_CACHE = 20,
	PERFDATA_FEATURE_SAMPLE_TIME = 21,
	PERFDATA_FEATURE_CLOCKID = 23,
	PERFDATA_FEATURE_DIR_FORMAT = 24,
	PERFDATA_FEATURE_COMPRESSED = 27,
	PERFDATA_FEATURE_CLOCK_DATA = 29,
};

/* As FOREIGN blocks tell it. */
enum perfdata_mode { PERFDATA_MODE_FILE = 1, PERFDATA_MODE_PIPE = 2 };

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	bool pipe; /* then nothing below means anything but size */
	uint64_t size;
	uint64_t attr_size;
	struct perfdata_section attrs, data, event_types;
	uint64_t features[PERFDATA_FEATURES_MAX / 64];
};

/*
 * Decodes the first bytes of a file; s has at most PERFDATA_HEADER_BYTES of them.
 * -FMT_E_EMPTY, -FMT_E_NOT_RECORDING (another magic), -FMT_E_UNSUPPORTED (the first format of
 * perf; a big-endian machine), -FMT_E_TRUNCATED, -FMT_E_CORRUPT (a size that no perf writes).
 */
int perfdata_header_decode(struct span s, struct perfdata_header *ret, struct fmt_where *where);

/* Writes the header of file mode; size, and what is pipe mode's, are not asked. */
void perfdata_header_encode(const struct perfdata_header *h, uint8_t out[PERFDATA_HEADER_BYTES]);

static inline bool
perfdata_header_has(const struct perfdata_header *h, unsigned int feature)
{
	return feature < PERFDATA_FEATURES_MAX && (h->features[feature / 64] >> feature % 64) & 1;
}

/* Do these first bytes begin a perf.data, of whatever version and byte order? */
bool perfdata_header_probe(struct span s);

/* Room that perf gives a string of len bytes, with its NUL. */
static inline size_t
perfdata_string_room(size_t len)
{
	return (len + 64) / 64 * 64;
}

/* "FINISHED_ROUND"; NULL: no tool's record that is known. */
const char *perfdata_record_name(uint32_t type);

#endif
