/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varlink: messages of the varlink protocol (varlink.org): JSON objects, each ended by a NUL.
 *
 * Bytes to calls and back, for both sides; no sockets. What comes in is hostile: its size,
 * nesting, encoding and types are checked here. Descriptors travel beside the bytes and are
 * none of this file's business.
 */
#ifndef DAEMON_CONTROL_VARLINK_H
#define DAEMON_CONTROL_VARLINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/bytes/buf.h"

#define VARLINK_MESSAGE_BYTES (64u << 10) /* of a call, with its NUL */
#define VARLINK_REPLY_BYTES (1u << 20)	  /* of a reply */
#define VARLINK_DEPTH 8			  /* of a call: braces and brackets that are open at once */
#define VARLINK_METHOD_BYTES 256	  /* a method's full name */

#define VARLINK_INTERFACE_NOT_FOUND "org.varlink.service.InterfaceNotFound"
#define VARLINK_METHOD_NOT_FOUND "org.varlink.service.MethodNotFound"
#define VARLINK_METHOD_NOT_IMPLEMENTED "org.varlink.service.MethodNotImplemented"
#define VARLINK_INVALID_PARAMETER "org.varlink.service.InvalidParameter"
#define VARLINK_PERMISSION_DENIED "org.varlink.service.PermissionDenied"
#define VARLINK_EXPECTED_MORE "org.varlink.service.ExpectedMore"

struct varlink_call {
	json_t *message;    /* owned: json_decref() ends all of it */
	const char *method; /* in message: "io.spoor.Recorder.List" */
	json_t *parameters; /* in message: an object */
	bool more, oneway, upgrade;
};

/*
 * Reads a call, p to p + n, without its NUL. 0; -EMSGSIZE; -EBADMSG: not a call, and as
 * varlink has no error for that, the connection is to be closed. -ENOMEM.
 */
int varlink_call_parse(const char *p, size_t n, struct varlink_call *ret);

/*
 * Appends a reply and its NUL. error NULL: a good one. parameters (may be NULL) is taken
 * over in any case. -ENOMEM.
 */
int varlink_reply_print(struct buf *out, const char *error, json_t *parameters, bool continues);

/* Appends a call and its NUL; parameters (NULL: none) taken over. For clients. */
int varlink_call_print(struct buf *out, const char *method, json_t *parameters, bool more);

struct varlink_reply {
	json_t *message;    /* owned, likewise */
	const char *error;  /* in message; NULL: none */
	json_t *parameters; /* in message: an object */
	bool continues;
};

/* Reads a reply as varlink_call_parse() reads a call. For clients. */
int varlink_reply_parse(const char *p, size_t n, struct varlink_reply *ret);

/* A JSON string of s, in which bytes that are not UTF-8 have become '?'. NULL: no memory. */
json_t *varlink_text(const char *s);

#endif
