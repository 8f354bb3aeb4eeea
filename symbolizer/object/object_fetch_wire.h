/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What object_fetch and its process tell each other: packets of a socket between them. */
#ifndef SYMBOLIZER_OBJECT_OBJECT_FETCH_WIRE_H
#define SYMBOLIZER_OBJECT_OBJECT_FETCH_WIRE_H

#include <stdint.h>

#include "format/bytes/buildid.h"

struct object_fetch_request {
	uint8_t what; /* enum object_fetch_what */
	uint8_t size; /* of the build-id */
	uint8_t id[BUILDID_MAX];
	uint64_t bytes_max; /* of the file */
};

enum object_fetch_reply_kind {
	OBJECT_FETCH_READY,    /* the library is loaded */
	OBJECT_FETCH_PROGRESS, /* bytes and total so far */
	OBJECT_FETCH_ENDED,    /* outcome, error and bytes */
};

struct object_fetch_reply {
	uint32_t kind;
	uint32_t outcome; /* enum object_fetch_outcome */
	int32_t error;	  /* errno; 0: none */
	uint64_t bytes, total;
};

#endif
