/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_client: spoorctl's end of the control socket. Says on stderr what goes wrong, once.
 */
#ifndef DAEMON_CTL_CTL_CLIENT_H
#define DAEMON_CTL_CTL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/control/varlink.h"
#include "format/bytes/buf.h"

#define CTL_DONE 0
#define CTL_FAILED 1
#define CTL_USAGE 2

struct ctl_client {
	const char *path; /* of the socket */
	bool json;	  /* replies go to stdout as they came */
	int fd;		  /* -1: not connected */
	struct buf in;
	size_t used; /* of in, by the reply that was returned last */
};

void ctl_client_init(struct ctl_client *c, const char *path);
void ctl_client_done(struct ctl_client *c);

/*
 * Connects if need be and sends a call of io.spoor.Recorder (parameters, may be NULL, taken
 * over), with a descriptor if pass is not -1. CTL_DONE or CTL_FAILED.
 */
int ctl_client_send(struct ctl_client *c, const char *method, json_t *parameters, bool more,
		    int pass);

/*
 * The next reply. CTL_DONE; CTL_FAILED, also when the reply is an error; -EINTR: a signal came
 * first.
 */
int ctl_client_receive(struct ctl_client *c, struct varlink_reply *ret);

/* Both, for a method with one reply, which a signal does not interrupt; --json is done. */
int ctl_client_call(struct ctl_client *c, const char *method, json_t *parameters,
		    struct varlink_reply *ret);

/* One line of JSON on stdout, sent off at once. */
void ctl_client_print_json(const json_t *j);

#endif
