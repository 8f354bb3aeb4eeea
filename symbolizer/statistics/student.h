/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * student: the t distribution, for means whose variance is itself an estimate. df: its degrees of freedom,
 * above 0, not necessarily whole.
 */
#ifndef SYMBOLIZER_STATISTICS_STUDENT_H
#define SYMBOLIZER_STATISTICS_STUDENT_H

/* Probability of a value at least as far from 0 as t, on either side. */
double student_p(double t, double df);
/* The t above 0 for which that is p, in (0, 1). */
double student_t(double p, double df);

#endif
