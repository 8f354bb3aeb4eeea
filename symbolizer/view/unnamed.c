/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/unnamed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"

#define VERSION_BYTES 16
#define PIECE_BYTES 256 /* of what is said in one format, of words that are known here */

static void __attribute__((format(printf, 2, 3))) add(struct buf *out, const char *format, ...)
{
	char piece[PIECE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(piece, sizeof(piece), format, args);
	va_end(args);
	buf_text(out, piece);
}

/* "3.12", "17"; "" of what is not known. */
static const char *
version_text(uint32_t version, char text[VERSION_BYTES])
{
	const uint32_t major = version >> 16, minor = version & 0xffff;

	*text = 0;
	if (minor)
		snprintf(text, VERSION_BYTES, "%" PRIu32 ".%" PRIu32, major, minor);
	else if (major)
		snprintf(text, VERSION_BYTES, "%" PRIu32, major);
	return text;
}

void
unnamed_who(struct buf *out, const struct sampled_process *p)
{
	char version[VERSION_BYTES];

	escape(out, *p->comm ? p->comm : "?");
	if (p->pid == TASK_PID_ELSEWHERE)
		return;
	add(out, " (pid %" PRIu32 ")", p->pid);
	if (p->runtime.kind == RUNTIME_none)
		return;
	version_text(p->runtime.version, version);
	add(out, ", %s%s%s", runtime_name(p->runtime.kind), *version ? " " : "", version);
}

static bool
can_be_asked(const struct runtime *r)
{
	const uint32_t since = runtime_asked_since(r->kind);

	return since != 0 && runtime_may_be(r, since);
}

bool
unnamed_command(const struct sampled_process *p, char ret[UNNAMED_COMMAND_BYTES])
{
	if (p->ended || !can_be_asked(&p->runtime))
		return false;
	snprintf(ret, UNNAMED_COMMAND_BYTES, "sudo spoor names -p %" PRIu32, p->pid);
	return true;
}

const char *
unnamed_option(const struct sampled_process *p)
{
	if (!runtime_may_be(&p->runtime, runtime_option_since(p->runtime.kind)))
		return NULL;
	return runtime_option(p->runtime.kind);
}

/* " (Java 17 or newer)", where it is not known whether it is. */
static void
add_since(struct buf *out, const struct runtime *r, uint32_t since)
{
	char version[VERSION_BYTES];

	if (since && !r->version)
		add(out, " (%s %s or newer)", runtime_name(r->kind), version_text(since, version));
}

void
unnamed_help(struct buf *out, const struct sampled_process *p)
{
	const struct runtime *r = &p->runtime;
	const char *option = unnamed_option(p), *name = runtime_name(r->kind);
	char command[UNNAMED_COMMAND_BYTES], version[VERSION_BYTES];

	if (r->kind == RUNTIME_none) {
		add(out, "it has no runtime mapped that is known here; ");
		if (p->pid == TASK_PID_ELSEWHERE)
			add(out, "what made the code has its names");
		else
			add(out,
			    "what made the code can tell its names in `/tmp/perf-%" PRIu32 ".map`",
			    p->pid);
		return;
	}
	if (can_be_asked(r)) {
		const bool lives = unnamed_command(p, command);

		add(out, "`%s` asks %s for their names while it runs",
		    lives ? command : "sudo spoor names -p PID", lives ? "it" : "such a process");
		add_since(out, r, runtime_asked_since(r->kind));
		if (option)
			add(out, ", `%s` has them told always", option);
		return;
	}
	if (!option) {
		add(out, "%s tells names since %s, when it is started with `%s`", name,
		    version_text(runtime_option_since(r->kind), version), runtime_option(r->kind));
		return;
	}
	add(out, "%s tells their names when it is started with `%s`", name, option);
	add_since(out, r, runtime_option_since(r->kind));
}

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void
unnamed_part(struct buf *out, const struct sampled_process *p)
{
	const uint64_t made = p->missing[RESOLVE_NOT_FILE];
	const uint64_t interpreted = sampled_process_interpreted(p);

	if (made)
		add(out, "%.2f%% of its samples are code made at run time",
		    percent(made, p->samples));
	if (interpreted)
		add(out, "%s%.2f%%%s in the interpreter, and what it runs has no names",
		    made ? ", and " : "", percent(interpreted, p->samples),
		    made ? "" : " of its samples are");
}

static int
tell_process(const struct sampled_process *p, double share, struct buf *scratch,
	     unnamed_line_fn *tell, void *arg)
{
	buf_clear(scratch);
	unnamed_who(scratch, p);
	buf_text(scratch, ": ");
	unnamed_part(scratch, p);
	buf_text(scratch, "; ");
	unnamed_help(scratch, p);
	buf_u8(scratch, 0);
	if (buf_failed(scratch))
		return -FMT_E_NOMEM;
	tell(arg, share, (const char *)scratch->p, 0);
	return 0;
}

int
unnamed_tell(const struct profile *p, unnamed_line_fn *tell, void *arg)
{
	const uint64_t samples = profile_totals(p)->samples;
	const struct sampled_process **list;
	size_t nr, shown = 0;
	uint64_t rest = 0;
	struct buf scratch;
	int err = process_table_sorted(profile_processes(p), sampled_process_runtime, &list, &nr);

	if (err)
		return err;
	buf_init(&scratch);
	for (size_t i = 0; err == 0 && i < nr; i++) {
		const uint64_t missing = sampled_process_runtime(list[i]);
		const double share = percent(missing, samples);

		if (shown == i && i < UNNAMED_SHOWN && share >= UNNAMED_PERCENT) {
			err = tell_process(list[i], share, &scratch, tell, arg);
			shown++;
		} else {
			rest += missing;
		}
	}
	if (err == 0 && shown < nr)
		tell(arg, percent(rest, samples), NULL, nr - shown);
	buf_done(&scratch);
	free(list);
	return err;
}

static void
keep_line(void *arg, double share, const char *line, size_t more)
{
	struct buf *lines = arg;

	/* A picture has not the room of a report. */
	if (more > 0)
		return;
	add(lines, "Code without names: %.2f%%: ", share);
	buf_text(lines, line);
	buf_u8(lines, 0);
}

int
unnamed_keep(const struct profile *p, struct buf *lines)
{
	const int err = unnamed_tell(p, keep_line, lines);

	return err == 0 && buf_failed(lines) ? -FMT_E_NOMEM : err;
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *
text_or_null(const char *s)
{
	return s && *s ? json_string(s) : json_null();
}

static json_t *
make_why(const struct sampled_process *p)
{
	json_t *j = json_object();

	for (int miss = RESOLVE_OK + 1; miss < RESOLVE_MISSES; miss++)
		if (p->missing[miss] > 0)
			json_object_set_new(j, resolve_miss_key((enum resolve_miss)miss),
					    json_value_number(p->missing[miss]));
	return j;
}

static json_t *
make_process(const struct sampled_process *p)
{
	const bool made = sampled_process_runtime(p) > 0;
	char command[UNNAMED_COMMAND_BYTES] = "", version[VERSION_BYTES];
	json_t *j = json_object();
	int err;

	if (made)
		unnamed_command(p, command);
	err = json_object_set_new(j, "pid", json_integer((int32_t)p->pid));
	err |= json_object_set_new(j, "comm", json_value_text(p->comm));
	err |= json_object_set_new(j, "ended", json_boolean(p->ended));
	err |= json_object_set_new(j, "samples", json_value_number(p->samples));
	err |= json_object_set_new(j, "without_name",
				   json_value_number(sampled_process_missing(p)));
	err |= json_object_set_new(j, "why", make_why(p));
	err |= json_object_set_new(j, "interpreted",
				   json_value_number(sampled_process_interpreted(p)));
	err |= json_object_set_new(j, "runtime",
				   p->runtime.kind == RUNTIME_none
					   ? json_null()
					   : json_string(runtime_key(p->runtime.kind)));
	err |= json_object_set_new(j, "runtime_version",
				   text_or_null(version_text(p->runtime.version, version)));
	err |= json_object_set_new(j, "command", text_or_null(command));
	err |= json_object_set_new(j, "option", text_or_null(made ? unnamed_option(p) : NULL));
	if (err) {
		json_decref(j);
		return NULL;
	}
	return j;
}

json_t *
unnamed_json(const struct profile *p)
{
	const struct sampled_process **list;
	json_t *array = json_array();
	size_t nr;
	int err = !array ||
		process_table_sorted(profile_processes(p), sampled_process_all, &list, &nr) < 0;

	if (err) {
		json_decref(array);
		return NULL;
	}
	for (size_t i = 0; i < nr && i < UNNAMED_JSON_MAX && !err; i++)
		err = json_array_append_new(array, make_process(list[i]));
	free(list);
	if (err) {
		json_decref(array);
		return NULL;
	}
	return array;
}
