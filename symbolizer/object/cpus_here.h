/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus_here: how much is worth doing side by side on this machine. */
#ifndef SYMBOLIZER_OBJECT_CPUS_HERE_H
#define SYMBOLIZER_OBJECT_CPUS_HERE_H

#include <stddef.h>

/* CPUs that this process may run on, 1 to max. */
size_t cpus_here(size_t max);

#endif
