/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope: a profile in speedscope's own JSON.
 * Source: speedscope.app/file-format-schema.json.
 *
 * One profile for each command (and whatever else the profile keeps apart), the heaviest first, each with its
 * samples in the order of their times: speedscope shows "Time Order" of any profile, and has no form without it.
 */
#ifndef SYMBOLIZER_EXPORT_SPEEDSCOPE_H
#define SYMBOLIZER_EXPORT_SPEEDSCOPE_H

#include "symbolizer/export/stack_export.h"

/* With a log. */
stack_export_fn speedscope_write;

#endif
