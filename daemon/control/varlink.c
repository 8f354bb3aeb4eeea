/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/varlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * jansson's own limit of nesting is 2048 frames of a recursive parser, which is more than this
 * program wants to spend on a stranger. Brackets in strings do not count.
 */
static bool
too_deep(const char *p, size_t n, unsigned int limit)
{
	unsigned int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		if (quoted) {
			if (p[i] == '\\')
				i++;
			else if (p[i] == '"')
				quoted = false;
		} else if (p[i] == '"') {
			quoted = true;
		} else if (p[i] == '{' || p[i] == '[') {
			if (++depth > limit)
				return true;
		} else if ((p[i] == '}' || p[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return false;
}

static int
varlink_load(const char *p, size_t n, size_t bytes, unsigned int depth, json_t **ret)
{
	json_error_t error;
	json_t *j;

	if (n >= bytes)
		return -EMSGSIZE;
	if (too_deep(p, n, depth))
		return -EBADMSG;
	j = json_loadb(p, n, JSON_REJECT_DUPLICATES, &error);
	if (!j)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	if (!json_is_object(j)) {
		json_decref(j);
		return -EBADMSG;
	}
	*ret = j;
	return 0;
}

/* A member that may be absent or null; anything but a boolean is not varlink. */
static bool
get_flag(const json_t *message, const char *key, bool *ret)
{
	const json_t *j = json_object_get(message, key);

	*ret = json_is_true(j);
	return !j || json_is_null(j) || json_is_boolean(j);
}

/* The parameters; an empty object is made where there are none. */
static int
get_parameters(json_t *message, json_t **ret)
{
	json_t *j = json_object_get(message, "parameters");

	if (!j || json_is_null(j)) {
		j = json_object();
		if (json_object_set_new(message, "parameters", j) < 0)
			return -ENOMEM;
	}
	*ret = j;
	return json_is_object(j) ? 0 : -EBADMSG;
}

int
varlink_call_parse(const char *p, size_t n, struct varlink_call *ret)
{
	struct varlink_call call = { 0 };
	int r = varlink_load(p, n, VARLINK_MESSAGE_BYTES, VARLINK_DEPTH, &call.message);

	if (r < 0)
		return r;
	r = get_parameters(call.message, &call.parameters);
	if (r < 0)
		goto out;
	r = -EBADMSG;
	call.method = json_string_value(json_object_get(call.message, "method"));
	if (!call.method || strlen(call.method) >= VARLINK_METHOD_BYTES)
		goto out;
	if (!get_flag(call.message, "more", &call.more) ||
	    !get_flag(call.message, "oneway", &call.oneway) ||
	    !get_flag(call.message, "upgrade", &call.upgrade))
		goto out;
	if (call.more + call.oneway + call.upgrade > 1)
		goto out;
	*ret = call;
	return 0;
out:
	json_decref(call.message);
	return r;
}

static int
varlink_append(const char *p, size_t n, void *arg)
{
	struct buf *out = arg;

	buf_append(out, p, n);
	return buf_failed(out) ? -1 : 0;
}

/* message is taken over; NULL: no memory. Nothing is appended on failure. */
static int
print(struct buf *out, json_t *message)
{
	size_t len = out->len;
	bool good = message && !buf_failed(out) &&
		json_dump_callback(message, varlink_append, out, JSON_COMPACT) == 0;

	json_decref(message);
	if (good)
		buf_u8(out, 0);
	if (good && !buf_failed(out))
		return 0;
	out->failed = false;
	out->len = len;
	return -ENOMEM;
}

int
varlink_reply_print(struct buf *out, const char *error, json_t *parameters, bool continues)
{
	json_t *message = json_pack("{so*so}", "continues", continues ? json_true() : NULL,
				    "parameters", parameters ? parameters : json_object());

	/* Never left out for want of memory, as "s*" would be. */
	if (error && json_object_set_new(message, "error", json_string(error)) < 0) {
		json_decref(message);
		message = NULL;
	}
	return print(out, message);
}

int
varlink_call_print(struct buf *out, const char *method, json_t *parameters, bool more)
{
	return print(out,
		     json_pack("{ssso*so*}", "method", method, "more", more ? json_true() : NULL,
			       "parameters", parameters));
}

int
varlink_reply_parse(const char *p, size_t n, struct varlink_reply *ret)
{
	struct varlink_reply reply = { 0 };
	json_t *error;
	int r = varlink_load(p, n, VARLINK_REPLY_BYTES, VARLINK_DEPTH, &reply.message);

	if (r < 0)
		return r;
	r = get_parameters(reply.message, &reply.parameters);
	if (r < 0)
		goto out;
	r = -EBADMSG;
	error = json_object_get(reply.message, "error");
	reply.error = json_string_value(error);
	if (error && !reply.error && !json_is_null(error))
		goto out;
	if (!get_flag(reply.message, "continues", &reply.continues))
		goto out;
	*ret = reply;
	return 0;
out:
	json_decref(reply.message);
	return r;
}

json_t *
varlink_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy;

	if (j)
		return j;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}
