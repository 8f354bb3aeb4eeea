/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label: what people call something that is kept; the name of a directory in kept/.
 */
#ifndef DAEMON_CONFIG_LABEL_H
#define DAEMON_CONFIG_LABEL_H

#include <stdbool.h>

#define LABEL_BYTES_MAX 100

/* What may be in it, for a person who gave something else. */
#define LABEL_RULE LABEL_RULE_OF(LABEL_BYTES_MAX)
#define LABEL_RULE_OF(max) LABEL_RULE_TEXT(max)
#define LABEL_RULE_TEXT(max)                                                                       \
	"a label is 1 to " #max " letters, digits, '.', '_', '-', and begins with no '.'"

bool label_good(const char *s);

#endif
