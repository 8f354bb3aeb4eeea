/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heading: what stands on top of an answer, in lines that begin with "#": of what it is, what is lost,
 * and how many samples.
 */
#ifndef SYMBOLIZER_VIEW_HEADING_H
#define SYMBOLIZER_VIEW_HEADING_H

#include "symbolizer/view/load.h"

/* On stdout. 0, -FMT_E_NOMEM. */
int heading_print(struct load *l);

#endif
