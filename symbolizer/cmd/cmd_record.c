/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor record: samples into a file, until it is told to stop. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes/buf.h"
#include "recorder/session/session.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/record_output.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/pack/pack.h"
#include "symbolizer/record/record_dry_run.h"
#include "symbolizer/record/record_request.h"
#include "symbolizer/record/record_watch.h"
#include "symbolizer/text/screen_text.h"

#define OBJECTS_BYTES_MAX (UINT64_C(1) << 30)

/* ^C and the like; the session stops at once, or as soon as there is one. */
static struct session *volatile running;
static volatile sig_atomic_t interrupted;
static bool written; /* there is a recording, by the name that was asked for */

static void
on_signal(int sig)
{
	interrupted = sig;
	if (running)
		session_stop(running);
}

/* --- the recording ------------------------------------------------------------------------ */

static void
catch_signals(void)
{
	static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal }, before;

	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		sigaction(stopping[i], &act, &before);
	/* nohup(1) asked for it. ^C is different: every script's background job ignores it. */
	if (before.sa_handler == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
	/* Writes fail instead, with EPIPE and EFBIG. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void
say(const char *text, size_t n)
{
	screen_text_print(stderr, screen_text_columns(STDERR_FILENO), "  ", "spoor record: %.*s",
			  (int)n, text);
}

static void
print_notes(const char *notes)
{
	while (*notes) {
		size_t n = strcspn(notes, "\n");

		say(notes, n);
		notes += n + (notes[n] == '\n');
	}
}

static void
print_news(struct session *s)
{
	struct news_line line;

	while (session_news(s, &line))
		say(line.text, strlen(line.text));
}

/* out: what it was about, where it was about a file; NULL: there is none. */
static int
cmd_record_failed(const struct session_error *e, const struct record_output *out)
{
	const bool named = out && e->of_file;

	screen_text_print(stderr, screen_text_columns(STDERR_FILENO), "  ", "spoor record: %s%s%s",
			  named ? out->path : "", named ? ": " : "", e->text);
	return e->exit_status;
}

/* before: files that were filled before the last one, which the bytes are of. */
static void
print_summary(const struct session_stats *st, const char *path, uint64_t before)
{
	uint64_t throttled = st->loss[LOSS_THROTTLED];

	fprintf(stderr, "[ spoor record: %llu sample%s, %llu lost, %s%.2f MB%s%s ]\n",
		(unsigned long long)st->samples, st->samples == 1 ? "" : "s",
		(unsigned long long)st->lost, before ? "the last " : "",
		(double)st->file_bytes / 1e6, *path ? " in " : "", path);
	if (throttled)
		fprintf(stderr, "spoor record: the kernel throttled sampling %llu time%s\n",
			(unsigned long long)throttled, throttled == 1 ? "" : "s");
	/* A trace has no samples that could be missing. */
	for (int i = LOSS_AUX_TRUNCATED; i <= LOSS_AUX_DROPPED; i++)
		if (st->loss[i])
			fprintf(stderr, "spoor record: %llu %s: %s\n",
				(unsigned long long)st->loss[i], loss_unit((enum loss_cause)i),
				loss_text((enum loss_cause)i));
}

/* EXIT_FAILED: there is nothing to tell success of, and that was said. */
static int
end_output(const struct record_request *rq, const struct session *s, struct record_output *out,
	   const struct record_watch *watch)
{
	enum record_output_left left;
	struct session_stats st;

	if (rq->watch.stamp)
		record_output_stamp(out);
	session_stats(s, &st);
	left = record_output_left(out, st.file_bytes);
	if (left == RECORD_OUTPUT_GONE)
		return EXIT_FAILED;
	written = left == RECORD_OUTPUT_THERE && out->lock_fd >= 0;
	if (!rq->watch.quiet)
		print_summary(&st, left == RECORD_OUTPUT_THERE ? out->path : "",
			      record_watch_files(watch));
	return EXIT_DONE;
}

/* The status of a command that ran to its end is ours; -1: it did not. */
static int
command_status(int wait_status)
{
	if (wait_status == -1)
		return EXIT_DONE;
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Lets the command go, and records to the end. *watch, which may be NULL, runs as long. */
static int
run(struct session *s, struct record_output *out, struct record_watch *watch)
{
	struct session_error error = { .exit_status = EXIT_FAILED };
	int status = EXIT_DONE;

	if (session_go(s, &error) < 0)
		return cmd_record_failed(&error, out);
	status = record_output_settle(out);
	if (status == EXIT_DONE)
		status = record_watch_start(watch, s);
	if (status == EXIT_DONE && session_run(s, &error) < 0)
		status = cmd_record_failed(&error, out);
	record_watch_stop(watch);
	return status;
}

/* To a person: what ends it, where neither a command, nor a time, nor a size does. */
static void
say_end(const struct record_request *rq)
{
	const struct session_options *o = &rq->session;
	const bool tasks = o->target == SESSION_PID || o->target == SESSION_TID;

	if (rq->watch.quiet || o->command || o->duration_ns || rq->watch.max_bytes ||
	    rq->watch.control || !isatty(STDERR_FILENO))
		return;
	screen_text_print(
		stderr, screen_text_columns(STDERR_FILENO), "  ",
		"spoor record: recording %s; ^C ends that, or --duration 30s after a time",
		tasks				      ? "these tasks while they run"
			: o->target == SESSION_CGROUP ? "what runs in this control group"
						      : "what runs");
}

/* By then all has been tried but the session. */
static int
dry_run(const struct record_request *rq)
{
	struct session_error error = { .exit_status = EXIT_FAILED };
	char *notes;
	int r = record_dry_run(&rq->session,
			       rq->json		     ? RECORD_DRY_RUN_JSON
				       : rq->verbose ? RECORD_DRY_RUN_LONG
						     : RECORD_DRY_RUN_LINES,
			       &notes, &error);

	if (r == 0 && notes)
		print_notes(notes);
	free(notes);
	return r < 0 ? cmd_record_failed(&error, NULL) : EXIT_DONE;
}

static int
record(const struct record_request *rq, struct record_output *out, struct record_watch *watch)
{
	struct session_error error = { .exit_status = EXIT_FAILED };
	struct session *s;
	int status, ended;

	if (session_open(&rq->session, &s, &error) < 0) {
		record_output_undo(out);
		return cmd_record_failed(&error, out);
	}
	if (rq->verbose)
		record_dry_run_session(s);
	if (!rq->watch.quiet)
		print_notes(session_notes(s));
	say_end(rq);
	running = s;
	if (interrupted)
		session_stop(s);
	status = run(s, out, watch);
	/* A command that has not ended is ended now, which says nothing about it. */
	ended = session_command_status(s);
	if (session_finish(s, &error) < 0)
		status = cmd_record_failed(&error, out);
	running = NULL;
	if (!rq->watch.quiet)
		print_news(s);
	if (out->temporary || status == 126 || status == 127)
		record_output_undo(out);
	else if (end_output(rq, s, out, watch) != EXIT_DONE)
		status = EXIT_FAILED;
	if (status == EXIT_DONE)
		status = interrupted ? 128 + interrupted : command_status(ended);
	session_close(s, &error);
	return status;
}

/* Half of what is free: copies can be done without, and must not end the recording beside them. */
static uint64_t
objects_room(const char *dir)
{
	struct statvfs fs;
	uint64_t half;

	if (!dir || statvfs(dir, &fs) < 0)
		return OBJECTS_BYTES_MAX;
	half = (uint64_t)fs.f_bavail * fs.f_frsize / 2;
	return half < OBJECTS_BYTES_MAX ? half : OBJECTS_BYTES_MAX;
}

static int
record_watched(struct record_request *rq, struct record_output *out)
{
	struct record_watch *watch;
	int status = record_watch_new(&rq->watch, out, &watch, &rq->session.sink);

	if (rq->session.sink)
		rq->session.out_fd = -1;
	rq->session.trigger_fd = record_watch_trigger_fd(watch);
	if (status == CLI_GO_ON && !rq->dry_run) {
		status = record(rq, out, watch);
	} else {
		record_output_undo(out);
		if (status == CLI_GO_ON)
			status = dry_run(rq);
		if (rq->session.sink)
			rq->session.sink->close(rq->session.sink);
	}
	record_watch_free(watch);
	return status;
}

/* With a directory for objects, if any are to be stored; it goes again when there are none. */
static int
record_objects(struct record_request *rq, struct record_output *out)
{
	struct session_objects *o = &rq->session.objects;
	char *dir = NULL;
	int status = EXIT_DONE;

	if (o->mode != SESSION_OBJECTS_NONE)
		status = record_output_objects(out, &dir);
	o->dir = dir;
	o->allowed_bytes = o->user_bytes = objects_room(dir);
	if (status == EXIT_DONE)
		status = record_watched(rq, out);
	else
		record_output_undo(out);
	if (dir)
		(void)rmdir(dir);
	free(dir);
	return status;
}

/* With the file that it goes into. */
static int
record_into(struct record_request *rq)
{
	struct record_output out;
	struct stat st;
	int status;

	/* Whoever reads a FIFO would have its end. */
	if (rq->dry_run && stat(rq->output, &st) == 0 && S_ISFIFO(st.st_mode))
		return dry_run(rq);
	status = record_output_open(&out, rq->output);

	if (status == EXIT_DONE && rq->pack && out.lock_fd < 0) {
		screen_text_warn("%s: is not a regular file: --pack is for one", rq->output);
		record_output_undo(&out);
		status = EXIT_USAGE;
	}
	if (status == EXIT_DONE) {
		catch_signals();
		rq->session.out_fd = out.fd;
		status = record_objects(rq, &out);
	}
	record_output_done(&out);
	return status;
}

/* What names the recording goes into it. Whoever does not want to wait for that interrupts it, and has the rest. */
static int
pack_recording(const struct record_request *rq)
{
	static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };
	struct load_options load;
	struct sigaction now;
	const struct pack_request pack_rq = { .load = &load, .quiet = rq->watch.quiet };
	int status = load_init(&load, "record");

	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		if (sigaction(stopping[i], NULL, &now) == 0 && now.sa_handler == on_signal)
			signal(stopping[i], SIG_DFL);
	load.path = rq->output;
	status = pack(&pack_rq);
	load_done(&load);
	return status;
}

int
cmd_record(int argc, char **argv)
{
	struct record_request rq;
	int status = record_request_parse(&rq, argc, argv);

	if (status == CLI_GO_ON)
		status = record_into(&rq);
	if (rq.pack && written && pack_recording(&rq) != EXIT_DONE && status == EXIT_DONE)
		status = EXIT_FAILED;
	record_request_done(&rq);
	return status;
}
