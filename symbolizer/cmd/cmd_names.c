/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor names: asks runtimes for the names of the code that they made. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <jansson.h>

#include "format/bytes/option_wrong.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/names/names_ask.h"
#include "symbolizer/names/names_choice.h"
#include "symbolizer/names/names_clock.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/text/screen_text.h"

#define TIMEOUT_NS ((uint64_t)(10 * SECOND_NS))
#define TIMEOUT_MAX_NS ((uint64_t)(600 * SECOND_NS))
#define EVERY_MIN_NS ((uint64_t)SECOND_NS)
#define EVERY_MAX_NS ((uint64_t)(86400 * SECOND_NS))

enum { OPT_CGROUP = 0x100, OPT_EVERY, OPT_TIMEOUT, OPT_JSON };

static const struct cli_option options[] = {
	{ 'p', 'p', "pid", "PID[,PID]", "ask these processes" },
	{ OPT_CGROUP, 0, "cgroup", "PATH", "ask those of a control group, and of groups in it" },
	{ 'a', 'a', "all", NULL, "ask all that have a runtime" },
	{ OPT_EVERY, 0, "every", "TIME", "again and again, so often (5m)" },
	{ OPT_TIMEOUT, 0, "timeout", "TIME", "how long one may take to answer (10s)" },
	{ OPT_JSON, 0, "json", NULL, "an array of objects a round instead of lines" },
	{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "names",
	.synopsis = "-p PID[,PID] | --cgroup PATH | -a [options]",
	.about =
		"Asks the runtimes of running processes for the names of the code that they made, without a "
		"restart: a JVM since 17, .NET since 8, Python since 3.14. They write them into their "
		"/tmp/perf-PID.map, which recordings take. Of others it is said what they take at "
		"their start.",
	.options = options,
};

struct request {
	struct names_pids pids; /* of -p */
	const char *cgroup;
	bool all, json;
	uint64_t every_ns, timeout_ns;
};

struct round {
	const struct request *rq;
	json_t *array;
	size_t told;
	int status;
};

static const struct {
	const char *word;
	bool said, fails;
} verdicts[] = {
#define X(verdict, word, said, fails) [NAMES_##verdict] = { word, said, fails },
	NAMES_VERDICTS(X)
#undef X
};

/* --- options -------------------------------------------------------------------------------- */

static int
set_pids(struct request *rq, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one, words[OPTION_WRONG_BYTES];
	int status = copy ? CLI_GO_ON : cli_no_memory();

	while (status == CLI_GO_ON && (one = strsep(&rest, ","))) {
		const char *problem;
		const pid_t pid = (pid_t)strtonum(one, 1, INT32_MAX, &problem);

		if (problem) {
			option_wrong_task_text(one, 'p', words, sizeof(words));
			status = cli_usage_error("names", "%s", words);
		} else if (names_pids_add(&rq->pids, pid) < 0) {
			status = cli_no_memory();
		}
	}
	free(copy);
	return status;
}

static int
set_time(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	uint64_t ns;

	if (time_text_duration(text, &ns) < 0 || ns < least || ns > most)
		return cli_usage_error("names", "--%s %s: not a time from %llus to %llus", option,
				       text, (unsigned long long)(least / SECOND_NS),
				       (unsigned long long)(most / SECOND_NS));
	*ret = ns;
	return CLI_GO_ON;
}

static int
cmd_names_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 'p':
		return set_pids(rq, text);
	case 'a':
		rq->all = true;
		break;
	case OPT_CGROUP:
		rq->cgroup = text;
		break;
	case OPT_EVERY:
		return set_time("every", text, EVERY_MIN_NS, EVERY_MAX_NS, &rq->every_ns);
	case OPT_TIMEOUT:
		return set_time("timeout", text, SECOND_NS, TIMEOUT_MAX_NS, &rq->timeout_ns);
	default:
		rq->json = true;
	}
	return CLI_GO_ON;
}

static int
check_request(const struct request *rq, int argc, char **argv, int first)
{
	const int chosen = (rq->pids.nr > 0) + (rq->cgroup != NULL) + rq->all;

	if (first < argc)
		return cli_usage_error("names", "%s: no argument is expected", argv[first]);
	if (chosen == 0)
		return cli_usage_error("names", "which processes? -p, --cgroup or -a");
	if (chosen > 1)
		return cli_usage_error("names", "-p, --cgroup and -a exclude each other");
	return CLI_GO_ON;
}

/* --- answers -------------------------------------------------------------------------------- */

static void
print_line(const struct names_answer *a)
{
	char line[sizeof(*a) + 64], *shown;

	(void)snprintf(line, sizeof(line), "%d%s%s%s%s%s: %s%s", (int)a->pid, *a->comm ? " " : "",
		       a->comm, *a->runtime ? " (" : "", a->runtime, *a->runtime ? ")" : "",
		       a->verdict == NAMES_NAMED ? "named: " : "", a->text);
	shown = escape_dup(line);
	if (shown)
		puts(shown);
	free(shown);
	(void)fflush(stdout);
}

static bool
add_json(json_t *array, const struct names_answer *a)
{
	json_t *j = json_object();
	int error = json_object_set_new(j, "pid", json_integer(a->pid));

	error |= json_object_set_new(j, "comm", json_value_text(a->comm));
	error |= json_object_set_new(j, "runtime",
				     *a->runtime ? json_value_text(a->runtime) : json_null());
	error |= json_object_set_new(j, "verdict", json_string(verdicts[a->verdict].word));
	error |= json_object_set_new(j, "says", json_value_text(a->text));
	if (!error)
		return json_array_append_new(array, j) == 0;
	json_decref(j);
	return false;
}

/* Of processes that were not named one by one, those that have no runtime, have ended or are others' are passed over. */
static void
tell(void *arg, const struct names_answer *a)
{
	struct round *r = arg;

	if (r->rq->pids.nr == 0 && !verdicts[a->verdict].said)
		return;
	r->told++;
	if (verdicts[a->verdict].fails)
		r->status = EXIT_FAILED;
	if (!r->array)
		print_line(a);
	else if (!add_json(r->array, a))
		r->status = cli_no_memory();
}

/* --- rounds --------------------------------------------------------------------------------- */

/* An exit status. */
static int
ask_chosen(const struct request *rq, const struct names_pids *pids)
{
	struct round r = { .rq = rq, .status = EXIT_DONE };

	r.array = rq->json ? json_array() : NULL;
	if (rq->json && !r.array)
		return cli_no_memory();
	names_ask_all(pids->v, pids->nr, rq->timeout_ns, tell, &r);
	if (rq->json && json_value_dump(r.array, stdout, JSON_INDENT(1)) == 0)
		putchar('\n');
	(void)fflush(stdout);
	json_decref(r.array);
	if (r.told == 0 && !rq->every_ns)
		screen_text_warn("no process here has a runtime that is known");
	return r.status;
}

/* Who is there is looked for anew each time. An exit status. */
static int
ask_round(const struct request *rq)
{
	struct names_pids found = { 0 };
	int rc = 0, status = EXIT_FAILED;

	if (rq->all)
		rc = names_choice_all(&found);
	else if (rq->cgroup)
		rc = names_choice_cgroup(&found, rq->cgroup);
	if (rc == 0)
		status = ask_chosen(rq, rq->pids.nr ? &rq->pids : &found);
	else
		(void)cli_usage_error("names", "%s: %s", rq->cgroup ? rq->cgroup : "/proc",
				      strerror(-rc));
	names_pids_done(&found);
	return status;
}

int
cmd_names(int argc, char **argv)
{
	struct request rq = { .timeout_ns = TIMEOUT_NS };
	int first, status = cli_parse(&syntax, argc, argv, cmd_names_set, &rq, &first);

	if (status == CLI_GO_ON)
		status = check_request(&rq, argc, argv, first);
	if (status == CLI_GO_ON) {
		status = ask_round(&rq);
		/* Until a signal ends it, or nobody reads any more. */
		while (rq.every_ns && !ferror(stdout)) {
			(void)poll(NULL, 0, (int)(rq.every_ns / 1000000));
			status = ask_round(&rq);
		}
	}
	names_pids_done(&rq.pids);
	return status;
}
