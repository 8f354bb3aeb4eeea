/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/method_call.h"

#include <string.h>

/* --- answers ----------------------------------------------------------------------------- */

void
method_call_error(struct method_call *call, const char *error, json_t *parameters)
{
	json_decref(call->parameters);
	call->error = error;
	call->parameters = parameters;
	call->wait = METHODS_ANSWERED;
}

bool
method_call_invalid(struct method_call *call, const char *parameter)
{
	method_call_error(call, VARLINK_INVALID_PARAMETER,
			  json_pack("{ss}", "parameter", parameter));
	return false;
}

void
method_call_fail(struct method_call *call, int error, const char *message)
{
	json_t *text = varlink_text(*message ? message : strerror(-error));

	method_call_error(call, METHODS_INTERFACE ".Failed",
			  json_pack("{sosi}", "message", text, "errno", -error));
}

void
method_call_limit(struct method_call *call, const char *key, uint64_t value)
{
	method_call_error(call, METHODS_INTERFACE ".LimitExceeded",
			  json_pack("{sssI}", "limit", key, "value", (json_int_t)value));
}

/* --- parameters -------------------------------------------------------------------------- */

json_t *
method_call_parameter(const struct method_call *call, const char *name)
{
	json_t *j = json_object_get(call->message->parameters, name);

	return json_is_null(j) ? NULL : j;
}

bool
method_call_int(struct method_call *call, const char *name, int64_t min, int64_t max,
		int64_t absent, int64_t *ret)
{
	const json_t *j = method_call_parameter(call, name);
	int64_t n = j ? json_integer_value(j) : absent;

	if (j && (n < min || n > max))
		return method_call_invalid(call, name);
	*ret = n;
	return true;
}
