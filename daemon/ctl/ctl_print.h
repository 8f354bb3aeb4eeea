/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_print: values as people read them. Nothing that comes from elsewhere reaches a terminal
 * as it is.
 */
#ifndef DAEMON_CTL_CTL_PRINT_H
#define DAEMON_CTL_CTL_PRINT_H

#include <stdint.h>
#include <stdio.h>

#define CTL_PRINT_BYTES 32

/* What is not printable ASCII becomes \ooo. */
void ctl_print_text(FILE *f, const char *s);

/* What a cause took away: "kernel_samples 12", "cpu_offline 1.500 s". */
void ctl_print_loss(FILE *f, const char *key, int64_t n);

/* Each returns to, which has room for CTL_PRINT_BYTES. */
char *ctl_print_size(char *to, int64_t bytes); /* "12.3 MiB" */
char *ctl_print_time(char *to, int64_t s);     /* "2026-11-21 03:12:00", here */
char *ctl_print_duration(char *to, int64_t s); /* "3 d 4 h", "12 s" */

#endif
