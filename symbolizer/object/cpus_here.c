/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/cpus_here.h"

#include <sched.h>

size_t
cpus_here(size_t max)
{
	cpu_set_t set;
	size_t n;

	/* It fails where there are more than a set has room for. */
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return max;
	n = (size_t)CPU_COUNT(&set);
	return n < max ? n : max;
}
