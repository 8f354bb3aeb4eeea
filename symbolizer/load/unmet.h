/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmet: what was asked for and is not in the recording, said on stderr with what there is: names
 * like it first.
 */
#ifndef SYMBOLIZER_LOAD_UNMET_H
#define SYMBOLIZER_LOAD_UNMET_H

#include "symbolizer/input/input_set.h"
#include "symbolizer/resolve/resolve.h"

/*
 * After all of the set was read through its filter: each value of an option that no sample of the
 * window met. To tell names the recordings are read again, unless they are standard input. options
 * are for names of functions; NULL: nobody can have asked for them.
 */
void unmet_warn(const struct input_set *set, const struct resolver_options *options);

#endif
