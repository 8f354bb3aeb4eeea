/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_output: the file that spoorctl capture hands to the daemon. What was there before is set
 * aside as FILE.old, as spoor record does. The daemon writes to regular files only; for
 * another standard output the recording is made in one without a name, and copied at the end.
 */
#ifndef DAEMON_CTL_CTL_OUTPUT_H
#define DAEMON_CTL_CTL_OUTPUT_H

#include <stdbool.h>

struct ctl_output {
	const char *path; /* for people */
	int fd;		  /* -1: not open */
	bool made;	  /* ours to take away when nothing came of it */
	bool copy;	  /* to standard output, at the end */
	char *resolved;	  /* path without symbolic links; NULL: standard output */
	char *set_aside;  /* what was at path before; NULL: nothing */
};

/* path "-": standard output. CTL_DONE or CTL_FAILED. */
int ctl_output_open(struct ctl_output *o, const char *path);
/* used false: nothing was recorded, so everything is put back as it was. */
int ctl_output_close(struct ctl_output *o, bool used);

#endif
