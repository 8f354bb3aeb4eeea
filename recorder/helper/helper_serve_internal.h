/* SPDX-License-Identifier: GPL-2.0-or-later */
/* helper_serve_internal: what the workers have in common: how they are asked, and what an answer takes. */
#ifndef RECORDER_HELPER_HELPER_SERVE_INTERNAL_H
#define RECORDER_HELPER_HELPER_SERVE_INTERNAL_H

#include "format/bytes/siphash.h"
#include "recorder/helper/helper.h"
#include "recorder/helper/helper_serve.h"

#define HELPER_OFFERED 4096 /* builds remembered; a power of two */

/* One message as it came, and what is known from those before it. Zeroed: nothing. */
struct request {
	size_t bytes;
	struct shunned shunned;
	int offers; /* a socket, since HELPER_OFFER; 0: none */
	bool offer_all;
	enum helper_offered outcome; /* of the file that is asked for */
	struct helper_offered_file { /* or looked at, and not to be offered */
		struct buildid id;
		uint64_t whose; /* and by which path: another file may have the same id */
	} offered_files[HELPER_OFFERED];
	struct siphash_key key;
	union {
		uint32_t kind;
		struct helper_shun shun;
		struct helper_find find;
		struct helper_scan scan;
		struct helper_jit jit;
		struct helper_offers offer;
		uint8_t room[HELPER_MESSAGE_MAX];
	};
};

/* Waits for what it is asked; at least so many bytes. False: nobody asks any more. */
bool helper_serve_take(int fd, struct request *rq, enum helper_kind kind, size_t bytes);

/* How long an answer takes, but for what other processes take of the CPUs meanwhile. */
struct stint {
	int fd; /* /proc/self/schedstat; -1: none */
	uint64_t began_ns, delayed_ns;
};

struct stint stint_open(void);
void stint_close(struct stint *s);
void stint_begin(struct stint *s);
uint64_t stint_took_ns(const struct stint *s); /* 0: that is not known */

#endif
