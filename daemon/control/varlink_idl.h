/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varlink_idl: the descriptions of the interfaces that the daemon has, and the check of
 * parameters against types written as in those: "int", "?[]string", "[string]int".
 */
#ifndef DAEMON_CONTROL_VARLINK_IDL_H
#define DAEMON_CONTROL_VARLINK_IDL_H

#include <jansson.h>
#include <stdbool.h>

/* docs/io.spoor.Recorder.varlink, byte for byte, and org.varlink.service. */
extern const char varlink_idl_recorder[];
extern const char varlink_idl_service[];

struct varlink_field {
	const char *name;
	const char *type; /* without named types and enums, where it is to be checked */
};

/*
 * Are these parameters, an object, of these fields (ended by a NULL name)? Unknown ones are
 * refused. When not, *ret_bad names the first that is not, in parameters or in fields.
 */
bool varlink_idl_check(const struct varlink_field *fields, json_t *parameters,
		       const char **ret_bad);

#endif
