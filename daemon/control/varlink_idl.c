/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/varlink_idl.h"

#include <string.h>

/*
 * The file itself, so that what is shipped and what is told cannot differ. Aligned: s390x addresses what is a symbol
 * by halves (larl).
 */
__asm__(".pushsection .rodata\n"
	".balign 8\n"
	".globl varlink_idl_recorder\n"
	".hidden varlink_idl_recorder\n"
	"varlink_idl_recorder:\n"
	".incbin \"docs/io.spoor.Recorder.varlink\"\n"
	".byte 0\n"
	".popsection\n");

const char varlink_idl_service[] =
	"# What every varlink service has: who it is, and what its interfaces are.\n"
	"interface org.varlink.service\n"
	"\n"
	"# The interfaces of this service, and about the program.\n"
	"method GetInfo() -> (\n"
	"  vendor: string,\n"
	"  product: string,\n"
	"  version: string,\n"
	"  url: string,\n"
	"  interfaces: []string\n"
	")\n"
	"\n"
	"# The description of an interface of this service.\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"# The service has no such interface.\n"
	"error InterfaceNotFound (interface: string)\n"
	"\n"
	"# The interface has no such method.\n"
	"error MethodNotFound (method: string)\n"
	"\n"
	"# The interface has the method, but it cannot be called, or not in this way.\n"
	"error MethodNotImplemented (method: string)\n"
	"\n"
	"# A parameter is unknown, missing, of another type, or has a value that is refused.\n"
	"error InvalidParameter (parameter: string)\n"
	"\n"
	"# The caller may not do this.\n"
	"error PermissionDenied ()\n"
	"\n"
	"# The method can only be called with \"more\".\n"
	"error ExpectedMore ()\n";

static bool
matches_plain(const char *type, const json_t *value)
{
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "int") == 0)
		return json_is_integer(value);
	if (strcmp(type, "float") == 0)
		return json_is_number(value);
	if (strcmp(type, "bool") == 0)
		return json_is_boolean(value);
	return false;
}

static bool
matches(const char *type, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (*type == '?') {
		if (json_is_null(value))
			return true;
		type++;
	}
	if (strncmp(type, "[]", 2) == 0) {
		if (!json_is_array(value))
			return false;
		json_array_foreach(value, i, member) if (!matches(type + 2, member)) return false;
		return true;
	}
	if (strncmp(type, "[string]", 8) == 0) {
		if (!json_is_object(value))
			return false;
		json_object_foreach(value, key,
				    member) if (!matches(type + 8, member)) return false;
		return true;
	}
	return matches_plain(type, value);
}

bool
varlink_idl_check(const struct varlink_field *fields, json_t *parameters, const char **ret_bad)
{
	const struct varlink_field *f;
	const char *key;
	json_t *value;

	json_object_foreach(parameters, key, value)
	{
		*ret_bad = key;
		for (f = fields; f->name && strcmp(f->name, key) != 0; f++)
			;
		if (!f->name || !matches(f->type, value))
			return false;
	}
	for (f = fields; f->name; f++) {
		*ret_bad = f->name;
		if (*f->type != '?' && !json_object_get(parameters, f->name))
			return false;
	}
	return true;
}
