/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/sample_log.h"

#include <stdlib.h>

#include "format/bytes/array.h"

void
sample_log_done(struct sample_log *log)
{
	free(log->times);
	free(log->stacks);
	free(log->periods);
	*log = (struct sample_log){ .by_period = log->by_period };
}

int
sample_log_take(void *arg, const struct profile *p, const struct profile_sample *s)
{
	struct sample_log *log = arg;
	int err = array_reserve(log->times, log->nr, log->cap_times, 1);

	(void)p;
	if (err == 0)
		err = array_reserve(log->stacks, log->nr, log->cap_stacks, 1);
	if (err == 0 && log->by_period)
		err = array_reserve(log->periods, log->nr, log->cap_periods, 1);
	if (err)
		return err;
	log->times[log->nr] = s->time_ns;
	log->stacks[log->nr] = s->stack;
	if (log->by_period)
		log->periods[log->nr] = s->period;
	log->nr++;
	return 0;
}
