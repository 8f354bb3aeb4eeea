/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * story: a recording made up by chance, of some CPUs, whose records come late by up to a jitter.
 * Changes (maps, names, forks, ends) are so rare that whole blocks have none, or so frequent that all
 * have.
 */
#ifndef TESTS_LAB_STORY_H
#define TESTS_LAB_STORY_H

#include "tests/lab/synthetic.h"

#define STORY_BEGIN_NS UINT64_C(2000000000)

/* Opened for reading; equal seeds make equal ones. synthetic_end() as ever. */
void story_make(struct synthetic *s, uint64_t seed);
/* A number below sides, that goes on from the story's. */
uint32_t story_roll(uint32_t sides);

#endif
