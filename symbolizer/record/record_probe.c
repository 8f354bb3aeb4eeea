/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "recorder/event/event_spec.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/record/record_breakpoint.h"
#include "symbolizer/record/record_symbol.h"
#include "symbolizer/record/record_usdt.h"
#include "symbolizer/object/function_place.h"

#define BREAKPOINT "mem:"
#define PROBE "uprobe:"
#define RETURN_PROBE "uretprobe:"
#define STATIC_PROBE "usdt:"
#define STATIC_PROBE_ANYWHERE "sdt:"

static const char *const place_words[] = {
	[FUNCTION_PLACE_NO_FILE] = "no file that can be read",
	[FUNCTION_PLACE_NO_ELF] = "neither a program nor a library",
	[FUNCTION_PLACE_UNKNOWN] = "no function has that name there, nor in a debug file",
	[FUNCTION_PLACE_SEVERAL] =
		"several functions have that name: give the place of one, PATH:0xOFFSET",
	[FUNCTION_PLACE_CHOSEN] =
		"an indirect function: its code is chosen when the program starts, and "
		"has another name",
	[FUNCTION_PLACE_NO_CODE] = "the symbol is in no part of the file that is executed",
};

struct probing {
	const char *text; /* the argument */
	const struct record_probed *probed;
	struct buf out;
};

static int
probe_error(const struct probing *p, const char *where, const char *what)
{
	return cli_usage_error("record", "%s: at character %zu: %s", p->text,
			       (size_t)(where - p->text) + 1, what);
}

/* SYMBOL[+OFFSET] of a file, n bytes. */
static int
resolve_symbol(struct probing *p, const char *path, const char *symbol, size_t n, bool at_return)
{
	char *name = strndup(symbol, n), *plus;
	enum function_place_result result;
	uint64_t offset = 0, more;
	int status = CLI_GO_ON;
	bool good;

	if (!name)
		return cli_no_memory();
	plus = record_symbol_cut(name, &more, &good);
	if (!good)
		status = probe_error(p, symbol + (plus + 1 - name), "not an offset such as 0x10");
	else if (plus && at_return)
		status = probe_error(
			p, symbol + (plus - name),
			"a return probe is of a whole function: an offset goes with uprobe");
	if (status == CLI_GO_ON) {
		result = function_place_find(path, name, &offset);
		if (result != FUNCTION_PLACE_FOUND)
			status = probe_error(p, symbol, place_words[result]);
	}
	if (status == CLI_GO_ON && __builtin_add_overflow(offset, more, &offset))
		status = probe_error(p, symbol + (plus + 1 - name), "too large");
	if (status == CLI_GO_ON)
		record_symbol_put(&p->out, symbol, n, offset);
	free(name);
	return status;
}

/* One event, of n bytes, behind its prefix. */
static int
resolve_probe(struct probing *p, const char *event, size_t n, bool at_return)
{
	const char *symbol = memchr(event, ':', n), *end = event + n, *mods;
	char path[PATH_MAX];
	int status;

	if (!symbol)
		return probe_error(p, event + n, "a probe is PATH:SYMBOL[+OFFSET] or PATH:OFFSET");
	if (!record_symbol_path(event, (size_t)(symbol - event), path))
		return probe_error(p, event, strerror(errno));
	buf_append(&p->out, path, strlen(path));
	buf_u8(&p->out, ':');
	symbol++;
	mods = memchr(symbol, ':', (size_t)(end - symbol));
	mods = mods ? mods : end;
	if (isdigit((unsigned char)*symbol) || memchr(symbol, '=', (size_t)(mods - symbol))) {
		buf_append(&p->out, symbol, (size_t)(mods - symbol));
		status = CLI_GO_ON;
	} else {
		status = resolve_symbol(p, path, symbol, (size_t)(mods - symbol), at_return);
	}
	buf_append(&p->out, mods, (size_t)(end - mods));
	return status;
}

static int
resolve_static(struct probing *p, const char *event, size_t n, bool anywhere)
{
	char problem[RECORD_USDT_PROBLEM_BYTES];
	const char *where;

	buf_text(&p->out, STATIC_PROBE);
	if (record_usdt_resolve(event, n, anywhere ? p->probed : NULL, &p->out, &where, problem))
		return CLI_GO_ON;
	return probe_error(p, where, problem);
}

static int
resolve_breakpoint(struct probing *p, const char *event, size_t n)
{
	const pid_t pid = p->probed->nr_pids == 1 ? p->probed->pids[0] : 0;
	const char *where, *problem = record_breakpoint_resolve(event, n, pid, &p->out, &where);

	return problem ? probe_error(p, where, problem) : CLI_GO_ON;
}

/* What is before the terms, n bytes. */
static int
resolve_head(struct probing *p, const char *event, size_t n)
{
	bool at_return = strncmp(event, RETURN_PROBE, strlen(RETURN_PROBE)) == 0;
	size_t prefix = at_return ? strlen(RETURN_PROBE) : strlen(PROBE);

	if (at_return || strncmp(event, PROBE, prefix) == 0) {
		buf_append(&p->out, event, prefix);
		return resolve_probe(p, event + prefix, n - prefix, at_return);
	}
	prefix = strlen(STATIC_PROBE);
	if (strncmp(event, STATIC_PROBE, prefix) == 0)
		return resolve_static(p, event + prefix, n - prefix, false);
	prefix = strlen(STATIC_PROBE_ANYWHERE);
	if (strncmp(event, STATIC_PROBE_ANYWHERE, prefix) == 0)
		return resolve_static(p, event + prefix, n - prefix, true);
	prefix = strlen(BREAKPOINT);
	if (strncmp(event, BREAKPOINT, prefix) == 0) {
		buf_append(&p->out, event, prefix);
		return resolve_breakpoint(p, event + prefix, n - prefix);
	}
	buf_append(&p->out, event, n);
	return CLI_GO_ON;
}

/* One event, of n bytes, without the blanks around it. */
static int
resolve_event(struct probing *p, const char *event, size_t n)
{
	size_t head = event_spec_terms(event, n);
	int status = resolve_head(p, event, head);

	buf_append(&p->out, event + head, n - head);
	return status;
}

int
record_probe_resolve(const char *text, const struct record_probed *probed, char **ret)
{
	struct probing p = { .text = text, .probed = probed };
	int status = CLI_GO_ON;

	buf_init(&p.out);
	while (status == CLI_GO_ON && *text) {
		size_t n = event_spec_bytes(text, ",{}"); /* braces are around groups */
		size_t from = 0, until = n;

		while (from < n && event_spec_blank(text[from]))
			from++;
		while (until > from && event_spec_blank(text[until - 1]))
			until--;
		buf_append(&p.out, text, from);
		status = resolve_event(&p, text + from, until - from);
		buf_append(&p.out, text + until, n - until);
		text += n;
		if (*text)
			buf_u8(&p.out, (uint8_t)*text++);
	}
	buf_u8(&p.out, 0);
	*ret = status == CLI_GO_ON && !buf_failed(&p.out) ? strdup((const char *)p.out.p) : NULL;
	if (status == CLI_GO_ON && !*ret)
		status = cli_no_memory();
	buf_done(&p.out);
	return status;
}
