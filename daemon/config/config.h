/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config: /etc/spoor/spoord.conf, "key = value" lines, '#' comments.
 *
 * Every key is a row of config_tbl.h. A file with any error yields no config at all, so that
 * a reload keeps the old one. Unknown and repeated keys are errors.
 */
#ifndef DAEMON_CONFIG_CONFIG_H
#define DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_PATH "/etc/spoor/spoord.conf"

/* SPACE: bytes, or a share of the file system; not given: the default rule. */
struct config_space {
	bool given;
	uint64_t bytes;
	uint32_t per_mille; /* 0: bytes say it */
};

#define CONFIG_T_STRING char *
#define CONFIG_T_PATH char *
#define CONFIG_T_EVENTS char *
#define CONFIG_T_COUNT uint64_t
#define CONFIG_T_BYTES uint64_t
#define CONFIG_T_TIME uint64_t	  /* ns */
#define CONFIG_T_PERCENT uint32_t /* thousandths of a percent */
#define CONFIG_PERCENT_ALL 100000
#define CONFIG_T_SPACE struct config_space

struct config {
#define CONFIG_ROW(key, type, change, def, min, max, unit, help) CONFIG_T_##type key;
#include "daemon/config/config_tbl.h"
#undef CONFIG_ROW
};

/* Messages such as "spoord.conf:12: frequency = 0: must be 1 to 100000 Hz". */
struct config_error {
	char text[512];			/* the first */
	unsigned int more;		/* errors besides it */
	void (*each)(const char *text); /* NULL, or gets every message as it is found */
	/*
	 * NULL, or asked about the value of each key that is a list of events: this room knows nothing of them. 0, or -EINVAL with what is wrong.
	 */
	int (*events)(const char *key, const char *value, char *why, size_t size);
};

/* All defaults. NULL: out of memory. */
struct config *config_new(void);
void config_free(struct config *c);

/*
 * Reads a file. path NULL: CONFIG_PATH, and a missing one is all defaults. 0, or -EINVAL or
 * another -errno with *error filled and *ret untouched. Lines behind an error are looked at, too.
 */
int config_read(const char *path, struct config **ret, struct config_error *error);

/*
 * The same of n bytes of text; name stands for the file in messages. Only the text is looked
 * at: neither the file system nor the network is asked.
 */
int config_parse(const char *text, size_t n, const char *name, struct config **ret,
		 struct config_error *error);

/* The canonical form: every key, one a line; config_read() of it gives the same. */
void config_print(const struct config *c, FILE *out);

/* For --help: every key with its default and what it is, one a line. */
void config_help(FILE *out);

/* Keys in which they differ and that need a restart to change ("" when none); comma list. */
void config_restart_keys(const struct config *a, const struct config *b, char *out, size_t size);
/* Exchanges those values: what is in force stays so in the one that comes. */
void config_swap_restart_keys(struct config *a, struct config *b);

/* Does what is recorded differ so that only a new session can have it? */
bool config_needs_session(const struct config *before, const struct config *after);

#endif
