/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/resolve_miss.h"

#define MISS_TEXTS                                                                                 \
	X(RESOLVE_OK, "ok", "known")                                                               \
	X(RESOLVE_NO_MAP, "no_map", "no mapping holds the address")                                \
	X(RESOLVE_NO_FILE, "no_file", "the file is not on this machine")                           \
	X(RESOLVE_MISMATCH, "mismatch",                                                            \
	  "the file here is another build than the one that was recorded")                         \
	X(RESOLVE_UNSURE, "unsure", "no build-id was recorded: the file here may be another one")  \
	X(RESOLVE_NO_SYMBOL, "no_symbol", "no symbol covers the address")                          \
	X(RESOLVE_NO_NAME, "no_name", "the file is stripped: its functions have no names")         \
	X(RESOLVE_NOT_FILE, "not_file", "anonymous memory")                                        \
	X(RESOLVE_NO_KSYM, "no_kernel_symbol", "no kernel symbol was recorded for the address")    \
	X(RESOLVE_BAD_FILE, "bad_file", "the file is not an ELF object that can be read")

static const struct {
	const char *key, *text;
} misses[RESOLVE_MISSES] = {
#define X(value, key, text) [value] = { key, text },
	MISS_TEXTS
#undef X
};

const char *
resolve_miss_text(enum resolve_miss miss)
{
	return (unsigned)miss < RESOLVE_MISSES ? misses[miss].text : "unknown";
}

const char *
resolve_miss_key(enum resolve_miss miss)
{
	return (unsigned)miss < RESOLVE_MISSES ? misses[miss].key : "unknown";
}

const char *
resolve_doubt_text(enum resolve_doubt doubt)
{
	switch (doubt) {
	case RESOLVE_UNVERIFIED:
		return "not verified: no build-id was recorded; path, age and code are right";
	case RESOLVE_FORCED:
		return "forced: the file may be another one";
	default:
		return "sure";
	}
}
