/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_value: numbers with units as people write them, in the configuration and on the
 * command line; and the shortest exact form of each, which reads back as the same number.
 * Decimal digits only: no sign, no fraction (but of a percentage), no octal surprise. And labels.
 */
#ifndef DAEMON_CONFIG_CONFIG_VALUE_H
#define DAEMON_CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/ground/session_options.h"

#define CONFIG_VALUE_MAX 32 /* enough for what the print functions write */

/* All parsers: 0; -EINVAL, not such a value; -ERANGE, too large to be held. */

/* "4096", "512K", "128M", "4G", "1T": powers of 1024; a B or iB after the letter is fine. */
int config_bytes_parse(const char *text, uint64_t *ret);
void config_bytes_print(uint64_t bytes, char out[CONFIG_VALUE_MAX]);

/* "500ms", "5s", "2m", "1h30m", "1d"; units ns us ms s m min h d w; a bare number: seconds. */
int config_time_parse(const char *text, uint64_t *ret_ns);
void config_time_print(uint64_t ns, char out[CONFIG_VALUE_MAX]);

/* "1%", "0.5%", "2": thousandths of a percent. */
int config_percent_parse(const char *text, uint32_t *ret);
void config_percent_print(uint32_t thousandths, char out[CONFIG_VALUE_MAX]);

/* "19": digits. */
int config_count_parse(const char *text, uint64_t *ret);

/*
 * As session_call_graph_parse(), of those that a daemon's sessions take. Not lbr: the CPU's branches are the host's,
 * and one recorder's at a time. Nor deferred: such chains are side-band, which has a bound of its own. 0, -EINVAL.
 */
int config_call_graph_parse(const char *text, struct session_options *options);

/* "10s @ 999": a time, of up to an hour, and a frequency of up to 100000 Hz; "none": 0 both. 0, -EINVAL. */
int config_flight_parse(const char *text, uint64_t *ret_ns, uint64_t *ret_hz);

/* A label: what people call something that is kept; the name of a directory in kept/. */
#define LABEL_BYTES_MAX 100
/* What may be in it, for a person who gave something else. */
#define LABEL_RULE LABEL_RULE_OF(LABEL_BYTES_MAX)
#define LABEL_RULE_OF(max) LABEL_RULE_TEXT(max)
#define LABEL_RULE_TEXT(max)                                                                       \
	"a label is 1 to " #max " letters, digits, '.', '_', '-', and begins with no '.'"
bool config_label_good(const char *s);

#endif
