/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_wanted: a file that somebody mapped, and that a helper is asked for. */
#ifndef RECORDER_LIVE_LIVE_WANTED_H
#define RECORDER_LIVE_LIVE_WANTED_H

#include <stdlib.h>

#include "recorder/helper/helper_serve.h"

struct live_wanted {
	struct buildid_map map; /* the path is its own */
	uint32_t uid;		/* whose process it is; TASK_USER_UNKNOWN */
	bool fatal;		/* a helper has ended over it */
	uint64_t again_ns;	/* another map was seen meanwhile, of this time; 0: none */
	uint32_t nr_peers;
	pid_t peers[HELPER_PEERS_MAX];
};

static inline void
live_wanted_done(struct live_wanted *w)
{
	free((char *)(uintptr_t)w->map.path);
	*w = (struct live_wanted){ 0 };
}

#endif
