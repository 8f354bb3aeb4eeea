/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/config/config_value.h"

static char *
print(const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	config_print(c, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static struct config *
parse(const char *text)
{
	struct config *c = NULL;
	struct config_error error = { .text = "" };

	if (config_parse(text, strlen(text), "f", &c, &error) != 0)
		fail_msg("%s", error.text);
	return c;
}

static void
test_defaults(void **state)
{
	struct config *c = config_new();

	assert_non_null(c);
	assert_string_equal(c->archive_directory, "/var/lib/spoor");
	assert_string_equal(c->events, "");
	assert_int_equal(c->frequency, 19);
	assert_int_equal(c->segment_age, 3600 * UINT64_C(1000000000));
	assert_int_equal(c->cpu_budget, 1000);
	assert_int_equal(c->memory_budget, 64 << 20);
	assert_false(c->max_use.given);
	config_free(c);
	config_free(NULL);
}

/* What is printed is read back as the same, and prints the same. */
static void
test_canonical(void **state)
{
	static const char *const texts[] = {
		"",
		"# only a comment\n\n   \t\r\n",
		"frequency=97\nevents = cycles:u,page-faults # two\n",
		"  max_use = 10.5%\nkeep_free = 0\nsegment_size = 1536K\n",
		"max_use = 123457\nkeep_free=0%\nblock_age = 2500ms\nmax_age = 1h30m\n",
		"archive_directory = /a b/#c\ncpu_budget = 0.125\ncall_graph = dwarf,4096",
		"max_age = 1w\nclient_timeout = 90\r\nmemory_budget = 0\ndisk_budget = 1m\n",
		"events =#cycles\n",
		"flight_recorder = 10s@999\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct config *a = parse(texts[i]), *b;
		char *first = print(a), *second, keys[100];

		b = parse(first);
		second = print(b);
		assert_string_equal(first, second);
		config_restart_keys(a, b, keys, sizeof(keys));
		assert_string_equal(keys, "");
		free(first);
		free(second);
		config_free(a);
		config_free(b);
	}
}

static void
test_values(void **state)
{
	struct config *c = parse("max_use = 10.5%\nkeep_free = 0\nsegment_size = 1536K\n"
				 "archive_directory = /a b/#c # why not\nblock_age = 2500ms\n"
				 "max_age = 1h 30m\nclient_timeout = 90\ncpu_budget = 0.5\n");

	assert_int_equal(c->max_use.per_mille, 105);
	assert_true(c->keep_free.given);
	assert_int_equal(c->keep_free.bytes, 0);
	assert_int_equal(c->segment_size, 1536 << 10);
	assert_string_equal(c->archive_directory, "/a b/#c");
	assert_int_equal(c->block_age, UINT64_C(2500000000));
	assert_int_equal(c->max_age, 5400 * UINT64_C(1000000000));
	assert_int_equal(c->client_timeout, 90 * UINT64_C(1000000000));
	assert_int_equal(c->cpu_budget, 500);
	config_free(c);
}

static const struct {
	const char *text, *error;
} bad[] = {
	{ "\n\nfrequency = 0\n", "f:3: frequency = 0: must be 1 to 100000 Hz" },
	{ "frequency = 100001", "f:1: frequency = 100001: must be 1 to 100000 Hz" },
	{ "frequency = 99999999999999999999",
	  "f:1: frequency = 99999999999999999999: must be 1 to 100000 Hz" },
	{ "frequency = -1", "f:1: frequency = -1: must be a number" },
	{ "frequency = 19Hz", "f:1: frequency = 19Hz: must be a number" },
	{ "frequency =", "f:1: frequency = : must be a number" },
	{ "Frequency = 5", "f:1: Frequency: no such key" },
	{ "frequency 5", "f:1: \"frequency 5\": neither \"key = value\" nor a comment" },
	{ "= 5", "f:1: \"= 5\": neither \"key = value\" nor a comment" },
	{ "[Recorder]", "f:1: \"[Recorder]\": neither \"key = value\" nor a comment" },
	{ "frequency = 5\n#\nfrequency = 5", "f:3: frequency: given on line 1 already" },
	{ "ring_pages = 33", "f:1: ring_pages = 33: must be a power of two" },
	{ "archive_directory = x", "f:1: archive_directory = x: must be an absolute path" },
	{ "archive_directory = ", "f:1: archive_directory = : must not be empty" },
	{ "build_ids = both", "f:1: build_ids = both: must be auto, kernel or file" },
	{ "call_graph = lbr",
	  "f:1: call_graph = lbr: must be fp, auto[,BYTES], none, or dwarf[,BYTES]" },
	{ "flight_recorder =",
	  "f:1: flight_recorder = : must be none, or TIME @ HZ as 10s @ 999, of up to 1 hour and 100000 Hz" },
	{ "flight_recorder = 10s",
	  "f:1: flight_recorder = 10s: must be none, or TIME @ HZ as 10s @ 999, of up to 1 hour and 100000 Hz" },
	{ "flight_recorder = 61m @ 5",
	  "f:1: flight_recorder = 61m @ 5: must be none, or TIME @ HZ as 10s @ 999, of up to 1 hour and 100000 Hz" },
	{ "max_use = 4095", "f:1: max_use = 4095: must be at least 64K" },
	{ "max_use = 0", "f:1: max_use = 0: must be at least 64K" },
	{ "max_use = 101%", "f:1: max_use = 101%: must be 0.1% to 100%, in tenths of a percent" },
	{ "max_use = 1.25%", "f:1: max_use = 1.25%: must be 0.1% to 100%, in tenths of a percent" },
	{ "max_use = lots", "f:1: max_use = lots: must be bytes, as 512M, or a share, as 10%" },
	{ "segment_size = 99999999T", "f:1: segment_size = 99999999T: is too large" },
	{ "segment_size = 5X", "f:1: segment_size = 5X: must be bytes, as 512M" },
	{ "block_age = 61s", "f:1: block_age = 61s: must be 1s to 1m" },
	{ "block_age = 500ms", "f:1: block_age = 500ms: must be 1s to 1m" },
	{ "segment_age = 0", "f:1: segment_age = 0: must be at least 1s" },
	{ "max_age = 5 parsecs",
	  "f:1: max_age = 5 parsecs: must be a time, as 500ms, 5s, 2m, 1h or 1d" },
	{ "cpu_budget = 101%", "f:1: cpu_budget = 101%: must be 0% to 100%" },
	{ "cpu_budget = much", "f:1: cpu_budget = much: must be a percentage, as 0.5%" },
	{ "events = a\x01z", "f:1: a control character (0x01)" },
};

static void
test_errors(void **state)
{
	struct config *same = config_new(), *c = same;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct config_error error = { .text = "" };

		assert_int_equal(config_parse(bad[i].text, strlen(bad[i].text), "f", &c, &error),
				 -EINVAL);
		assert_string_equal(error.text, bad[i].error);
		assert_ptr_equal(c, same);
	}
	config_free(same);
}

static char told[4][512];
static unsigned int nr_told;

static void
note(const char *text)
{
	assert_true(nr_told < 4);
	snprintf(told[nr_told++], sizeof(told[0]), "%s", text);
}

static void
test_all_errors(void **state)
{
	static const char text[] = "frequency = 0\nnonsense\nring_pages = 64\nring_pages = 128\n";
	struct config_error error = { .each = note };
	struct config *c = NULL;

	nr_told = 0;
	assert_int_equal(config_parse(text, strlen(text), "f", &c, &error), -EINVAL);
	assert_null(c);
	assert_int_equal(nr_told, 3);
	assert_string_equal(told[0], "f:1: frequency = 0: must be 1 to 100000 Hz");
	assert_string_equal(told[1], "f:2: \"nonsense\": neither \"key = value\" nor a comment");
	assert_string_equal(told[2], "f:4: ring_pages: given on line 3 already");
	assert_string_equal(error.text, told[0]);
	assert_int_equal(error.more, 2);
}

static void
test_nul(void **state)
{
	struct config *c = NULL;
	struct config_error error = { .text = "" };

	assert_int_equal(config_parse("frequency = 1\0\n", 15, "f", &c, &error), -EINVAL);
	assert_string_equal(error.text, "f:1: a NUL byte: this is not a text file");
	assert_null(c);
}

static void
test_long(void **state)
{
	static const char archive[] = "archive_directory = /", socket[] = "control_socket = /";
	size_t n = 200000;
	char *text = malloc(n + 1), *p;
	struct config *c = NULL;
	struct config_error error = { .text = "" };

	/* A socket's path has 107 bytes, any other 4095. */
	memset(text, 'a', n);
	text[n] = '\0';
	memcpy(text, archive, strlen(archive));
	assert_int_equal(config_parse(text, n, text + 100, &c, &error), -EINVAL);
	assert_non_null(strstr(error.text, "must be at most 4095 bytes long"));
	memcpy(text, socket, strlen(socket));
	p = text + strlen(socket);
	p[107] = '\0';
	assert_int_equal(config_parse(text, strlen(text), "f", &c, &error), -EINVAL);
	assert_non_null(strstr(error.text, "must be at most 107 bytes long"));
	p[106] = '\0';
	assert_int_equal(config_parse(text, strlen(text), "f", &c, &error), 0);
	config_free(c);
	free(text);
}

static void
test_read(void **state)
{
	char path[] = "/tmp/spoor-config-XXXXXX";
	int fd = mkstemp(path);
	struct config *c = NULL;
	struct config_error error = { .text = "" };
	char want[100];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "frequency = 7\n", 14), 14);
	assert_int_equal(config_read(path, &c, &error), 0);
	assert_int_equal(c->frequency, 7);
	config_free(c);
	c = NULL;
	assert_int_equal(write(fd, "x\n", 2), 2);
	close(fd);
	assert_int_equal(config_read(path, &c, &error), -EINVAL);
	snprintf(want, sizeof(want), "%s:2: ", path);
	assert_memory_equal(error.text, want, strlen(want));
	unlink(path);
	assert_int_equal(config_read(path, &c, &error), -ENOENT);
	assert_non_null(strstr(error.text, "No such file"));
	assert_int_equal(config_read("/tmp", &c, &error), -EISDIR);
	assert_int_equal(config_read("/dev/zero", &c, &error), -EFBIG);
	assert_null(c);
}

static void
test_restart(void **state)
{
	struct config *a = config_new();
	struct config *b = parse("archive_directory = /x\nfrequency = 5\ncontrol_group = g\n");
	char keys[100], few[20];

	config_restart_keys(a, b, keys, sizeof(keys));
	assert_string_equal(keys, "archive_directory, control_group");
	config_restart_keys(a, b, few, sizeof(few));
	assert_string_equal(few, "archive_directory, ");
	config_swap_restart_keys(a, b);
	assert_string_equal(b->archive_directory, "/var/lib/spoor");
	assert_string_equal(b->control_group, "spoor");
	assert_string_equal(a->archive_directory, "/x");
	assert_int_equal(b->frequency, 5);
	config_restart_keys(a, b, keys, sizeof(keys));
	assert_string_equal(keys, "archive_directory, control_group");
	config_free(a);
	config_free(b);
}

static void
test_units(void **state)
{
	char text[CONFIG_VALUE_MAX];
	uint64_t n;
	uint32_t percent;

	assert_int_equal(config_bytes_parse("010", &n), 0);
	assert_int_equal(n, 10);
	assert_int_equal(config_bytes_parse("4GiB", &n), 0);
	assert_int_equal(n, UINT64_C(4) << 30);
	assert_int_equal(config_bytes_parse("16777216T", &n), -ERANGE);
	assert_int_equal(config_bytes_parse("K", &n), -EINVAL);
	assert_int_equal(config_time_parse("5 parsecs", &n), -EINVAL);
	assert_int_equal(config_time_parse("1h 5", &n), 0);
	assert_int_equal(n, UINT64_C(3605000000000));
	assert_int_equal(config_time_parse("0.3s", &n), 0);
	assert_int_equal(n, 300000000);
	assert_int_equal(config_time_parse("600000000000s", &n), -ERANGE);
	assert_int_equal(config_time_parse("2min", &n), 0);
	config_time_print(n, text);
	assert_string_equal(text, "2m");
	config_time_print(UINT64_MAX, text);
	assert_string_equal(text, "18446744073709551615ns");
	config_bytes_print(UINT64_MAX, text);
	assert_string_equal(text, "18446744073709551615");
	assert_int_equal(config_percent_parse("0.0005", &percent), -EINVAL);
	assert_int_equal(config_percent_parse("1.", &percent), -EINVAL);
	assert_int_equal(config_percent_parse("99999999", &percent), -ERANGE);
	/* All that is printed reads back, whatever the number. */
	for (uint64_t v = 1; v < UINT64_MAX / 3; v = v * 3 - v / 7) {
		config_time_print(v, text);
		assert_int_equal(config_time_parse(text, &n), 0);
		assert_int_equal(n, v);
		config_bytes_print(v, text);
		assert_int_equal(config_bytes_parse(text, &n), 0);
		assert_int_equal(n, v);
		config_percent_print((uint32_t)(v % 100001), text);
		assert_int_equal(config_percent_parse(text, &percent), 0);
		assert_int_equal(percent, v % 100001);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),   cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_values),	   cmocka_unit_test(test_errors),
		cmocka_unit_test(test_all_errors), cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long),	   cmocka_unit_test(test_read),
		cmocka_unit_test(test_restart),	   cmocka_unit_test(test_units),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
