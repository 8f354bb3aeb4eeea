/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usdt_place: where in a file a static probe is, and the semaphore that turns it on. */
#ifndef SYMBOLIZER_OBJECT_USDT_PLACE_H
#define SYMBOLIZER_OBJECT_USDT_PLACE_H

#include <stddef.h>
#include <stdint.h>

#define USDT_PLACES_MAX 512 /* of one probe; each is opened on each CPU */

enum usdt_place_result {
	USDT_PLACE_FOUND,
	USDT_PLACE_NO_FILE,	 /* none that can be read; errno says why */
	USDT_PLACE_NO_ELF,	 /* neither a program nor a library */
	USDT_PLACE_NONE,	 /* the file has no static probes at all */
	USDT_PLACE_UNKNOWN,	 /* it has no probe of this provider and name */
	USDT_PLACE_NO_CODE,	 /* a place of it is in no part of the file that is executed */
	USDT_PLACE_NO_SEMAPHORE, /* the semaphore of a place is in no part of the file */
	USDT_PLACE_TOO_MANY,	 /* more than USDT_PLACES_MAX */
	USDT_PLACE_NO_MEMORY,
};

/* From the file's beginning. */
struct usdt_place {
	uint64_t offset;
	uint64_t semaphore; /* 0: it has none */
};

struct usdt_places {
	struct usdt_place *p;
	size_t nr;
};

/* All places of the probe, each once; *ret is to be freed, and untouched if there are none. */
enum usdt_place_result usdt_place_find(const char *path, const char *provider, const char *name,
				       struct usdt_places *ret);
void usdt_places_done(struct usdt_places *places);

#endif
