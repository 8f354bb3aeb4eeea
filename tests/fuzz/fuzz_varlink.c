/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as a client sends them, each ended by a NUL, given to the methods as root's, a
 * member's and a stranger's, over streams and an archive that only pretend. Every call is
 * answered, by a message that reads back, and what is refused reached nobody.
 */
#include "daemon/control/capture_calls.h"
#include "daemon/control/methods.h"
#include "tests/lab/fake_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int client; /* anything with an address */

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
on_begun(void *arg, void *who)
{
	(void)arg;
	check(!who || who == &client);
}

static void
on_ended(void *arg, void *who, const char *error, json_t *parameters)
{
	(void)arg;
	check((!who || who == &client) && !error && parameters);
	json_decref(parameters);
}

static void
check_reply(struct method_call *call)
{
	struct varlink_reply reply;
	struct buf out;

	buf_init(&out);
	check(varlink_reply_print(&out, call->error, call->parameters, false) == 0);
	check(varlink_reply_parse((const char *)out.p, out.len - 1, &reply) == 0);
	check(!reply.error == !call->error);
	json_decref(reply.message);
	buf_done(&out);
}

/* Nothing that leads out of the hierarchy. */
static void
check_cgroup(const char *path)
{
	char framed[sizeof(fake.captures[0].text[2]) + 2];

	snprintf(framed, sizeof(framed), "/%s/", path);
	check(*path != '/' && !strstr(framed, "/../"));
}

static void
call_as(enum methods_access access, const struct varlink_call *message)
{
	static const struct control_context context = { .reload = fake_reload };
	struct control_context c = context;
	struct capture_calls *captures = capture_calls_new(NULL, on_begun, on_ended, NULL);
	struct method_call call = { .context = &c,
				    .captures = captures,
				    .message = message,
				    .access = access,
				    .uid = 1000,
				    .fd = -1,
				    .client = &client,
				    .rotations = &fake.rotated,
				    .dumps = &fake.dumped };

	check(captures != NULL);
	c.config = fake_config("/nowhere");
	fake_reset();
	fake.files = 3;
	methods_call(&call);
	while (call.wait == METHODS_DISK)
		methods_run(&call);
	if (access < METHODS_ROOT)
		check(fake.vacuums + fake.reloads == 0);
	if (access < METHODS_MEMBER)
		check(fake.starts + fake.keeps + fake.rotations + fake.dumps + fake.syncs == 0);
	check_cgroup(fake.captures[0].text[2]);
	for (char *rest = fake.captures[0].text[4], *one; (one = strsep(&rest, ","));)
		check_cgroup(one);
	check_reply(&call);
	if (call.wait == METHODS_CAPTURE)
		fake_end(call.wait_id, NULL);
	capture_calls_free(captures);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size > 0) {
		const uint8_t *end = memchr(data, 0, size);
		size_t n = end ? (size_t)(end - data) : size;
		struct varlink_reply reply;
		struct varlink_call call;

		if (varlink_call_parse((const char *)data, n, &call) == 0) {
			call_as(METHODS_ANYONE, &call);
			call_as(METHODS_MEMBER, &call);
			call_as(METHODS_ROOT, &call);
			json_decref(call.message);
		}
		if (varlink_reply_parse((const char *)data, n, &reply) == 0)
			json_decref(reply.message);
		n += end != NULL;
		data += n;
		size -= n;
	}
	return 0;
}
