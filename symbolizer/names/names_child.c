/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "symbolizer/names/names_answer.h"
#include "symbolizer/names/names_dotnet.h"
#include "symbolizer/names/names_jvm.h"
#include "symbolizer/names/names_process.h"
#include "symbolizer/names/names_python.h"
#include "symbolizer/names/names_rights.h"

static void
say_option(const struct names_process *p, struct names_answer *a)
{
	const uint32_t since = runtime_option_since(p->runtime.kind);

	if (runtime_may_be(&p->runtime, since))
		names_answer_say(a, NAMES_CANNOT,
				 "cannot be asked while it runs; it takes %s at its start",
				 runtime_option(p->runtime.kind));
	else
		names_answer_say(
			a, NAMES_CANNOT,
			"%u.%u cannot tell the names of its code; %u.%u takes %s at its start",
			p->runtime.version >> 16, p->runtime.version & 0xffff, since >> 16,
			since & 0xffff, runtime_option(p->runtime.kind));
}

/* Gives up the caller's rights for those of the process's user. 0, -1, said. */
static int
become_its_user(const struct names_process *p, struct names_answer *a)
{
	int rc = names_rights_groups(p);

	if (rc == 0)
		rc = names_rights_take(p->uid, p->gid);
	if (rc == 0)
		return 0;
	names_answer_say(a, NAMES_FAILED, "its user cannot be taken on: %s", strerror(-rc));
	return -1;
}

static void
ask_jvm(const struct names_process *p, int64_t deadline_ns, struct names_answer *a)
{
	if (names_jvm_forbids(p))
		names_answer_say(a, NAMES_CANNOT,
				 "it was started with -XX:+DisableAttachMechanism");
	else if (become_its_user(p, a) == 0)
		names_jvm_ask(p, deadline_ns, a);
}

static void
ask_dotnet(const struct names_process *p, int64_t deadline_ns, struct names_answer *a)
{
	char *tmpdir = names_process_word(p, "environ", "TMPDIR=");

	if (become_its_user(p, a) == 0)
		names_dotnet_ask(p, tmpdir, deadline_ns, a);
	free(tmpdir);
}

static void
ask_python(const struct names_process *p, volatile pid_t *started, int64_t deadline_ns,
	   struct names_answer *a)
{
	struct names_python y;

	/* A filter cannot be taken on: what may be looked at of it is not what it does. */
	if (p->filtered) {
		names_answer_say(a, NAMES_CANNOT,
				 "it runs in a seccomp sandbox, which its interpreter would run "
				 "outside of; it takes %s at its start",
				 runtime_option(p->runtime.kind));
		return;
	}
	if (names_python_start(&y, p, deadline_ns, a) < 0)
		return;
	/* While this process is still root's: its child cannot have ended it yet. */
	*started = y.child;
	if (become_its_user(p, a) == 0)
		names_python_end(&y, p, deadline_ns, a);
}

static void
ask(const struct names_process *p, volatile pid_t *started, int64_t deadline_ns,
    struct names_answer *a)
{
	const uint32_t since = runtime_asked_since(p->runtime.kind);

	names_answer_say(a, NAMES_FAILED, "not asked");
	if (since == 0 || !runtime_may_be(&p->runtime, since))
		say_option(p, a);
	else if (p->runtime.kind == RUNTIME_python)
		ask_python(p, started, deadline_ns, a);
	else if (p->runtime.kind == RUNTIME_dotnet)
		ask_dotnet(p, deadline_ns, a);
	else
		ask_jvm(p, deadline_ns, a);
}

void
names_child_run(pid_t parent, pid_t pid, int fd, volatile pid_t *started, int64_t deadline_ns)
{
	struct names_answer a = { .pid = pid, .verdict = NAMES_FAILED };
	struct names_process p;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)prctl(PR_SET_DUMPABLE, 0);
	names_rights_limit();
	if (names_process_open(&p, pid, &a) == 0)
		ask(&p, started, deadline_ns, &a);
	names_process_done(&p);
	/* Less than PIPE_BUF: the reader has it whole or not at all. */
	_exit(write(fd, &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
}
