/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beta: the regularized incomplete beta function, which the tails of the t and of the binomial distribution are.
 */
#ifndef SYMBOLIZER_STATISTICS_BETA_H
#define SYMBOLIZER_STATISTICS_BETA_H

/* I_x(a, b); a and b above 0, to 20,000 or so: the steps grow with their square root. */
double beta_share(double a, double b, double x);

#endif
