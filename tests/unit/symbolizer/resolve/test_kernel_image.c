/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols from files that were given, or of the running kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/resolve/kernel_image.h"

#define TEXT UINT64_C(0xffffffff81000000)
#define MOVED UINT64_C(0x14000000)

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 T first\n"
			      "ffffffff81002000 t second\n"
			      "ffffffff81003000 T _etext\n"
			      "ffffffffc0100000 t in_module\t[snd_pcm]\n"
			      "ffffffffc0100100 t its_next\t[snd_pcm]\n";
static const char hidden[] = "0000000000000000 T _text\n"
			     "0000000000000000 T first\n";

struct fixture {
	char path[64];
	struct intern *strings;
	struct kernel_image *image;
};

static int
setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .path = "/tmp/spoor-kernel.XXXXXX" };
	close(mkstemp(f.path));
	f.strings = intern_new(INTERN_BYTES_MAX);
	assert_non_null(f.strings);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	kernel_image_free(f->image);
	intern_free(f->strings);
	return 0;
}

static void
given(struct fixture *f, const char *text, const struct buildid *recorded, bool this_boot)
{
	FILE *file = fopen(f->path, "w");

	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	f->image =
		kernel_image_new(&(struct kernel_image_options){ .kallsyms = f->path }, f->strings);
	assert_non_null(f->image);
	kernel_image_next(f->image, recorded, NULL, this_boot);
}

static void
map(struct fixture *f, const char *name, uint64_t addr, uint64_t len, uint64_t pgoff)
{
	struct perf_mmap m = { .addr = addr, .len = len, .pgoff = pgoff, .filename = name };

	assert_int_equal(kernel_image_map(f->image, &m), 0);
}

static const char *
name(struct fixture *f, uint64_t address, const char *dso)
{
	struct kernel_symbol s;
	int found = kernel_image_find(f->image, address, &s);

	assert_true(found >= 0);
	if (!found)
		return "";
	assert_true(s.start <= address && address < s.end);
	assert_string_equal(s.dso, dso);
	return s.name;
}

static const struct buildid none;

/* A return address at which a function starts, behind its padding, means the function. */
static void
test_padding(void **state)
{
	static const char padded[] = "ffffffff81000000 T _text\n"
				     "ffffffff81001000 T caller\n"
				     "ffffffff81001040 T __pfx_callee\n"
				     "ffffffff81001050 T callee\n"
				     "ffffffff81001090 T unpadded\n"
				     "ffffffff81002000 T last\n";
	static const struct {
		uint64_t ip;
		bool is_return;
		const char *name;
	} frames[] = {
		{ TEXT + 0x1050, true, "callee" },	 { TEXT + 0x1050, false, "callee" },
		{ TEXT + 0x1048, true, "__pfx_callee" }, { TEXT + 0x104f, false, "__pfx_callee" },
		{ TEXT + 0x1040, true, "caller" },	 { TEXT + 0x1090, true, "callee" },
	};
	struct fixture *f = *state;

	given(f, padded, &none, false);
	map(f, "[kernel.kallsyms]_text", TEXT, 0x3000, TEXT);
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		struct kernel_symbol s;

		assert_int_equal(kernel_image_find_frame(f->image, frames[i].ip,
							 frames[i].is_return, &s),
				 1);
		assert_string_equal(s.name, frames[i].name);
	}
}

static void
test_where_it_lay(void **state)
{
	struct fixture *f = *state;

	given(f, symbols, &none, false);
	map(f, "[kernel.kallsyms]_text", TEXT, 0x3000, TEXT);
	map(f, "/lib/modules/6.18.5/kernel/sound/core/snd-pcm.ko.xz", UINT64_C(0xffffffffc0100000),
	    0x1000, 0);
	assert_string_equal(name(f, TEXT + 0x1010, "[kernel.kallsyms]"), "first");
	assert_string_equal(name(f, TEXT + 0x2fff, "[kernel.kallsyms]"), "second");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001), "[snd_pcm]"), "in_module");
	assert_string_equal(name(f, TEXT - 1, ""), "");
	assert_null(kernel_image_trouble(f->image));
	assert_int_equal(kernel_image_doubt(f->image), RESOLVE_SURE);
}

static void
test_moved(void **state)
{
	struct fixture *f = *state;

	given(f, symbols, &none, true);
	map(f, "[kernel.kallsyms]_stext", TEXT + MOVED, 0x3000, TEXT + MOVED);
	map(f, "[snd_pcm]", UINT64_C(0xffffffffc0100000), 0x1000, 0);
	assert_string_equal(name(f, TEXT + MOVED + 0x1fff, "[kernel.kallsyms]"), "first");
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	/* Modules do not move with the kernel. */
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001), ""), "");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001) + MOVED, ""), "");
}

/* A module that the recording has elsewhere, or has not. */
static void
test_other_modules(void **state)
{
	struct fixture *f = *state;

	given(f, symbols, &none, false);
	map(f, "[kernel.kallsyms]_text", TEXT, 0x3000, TEXT);
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001), ""), "");
	map(f, "[snd_timer]", UINT64_C(0xffffffffc0100000), 0x1000, 0);
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001), ""), "");
}

/* What another module has freed after its start is listed last, at the place of one that the recording has there. */
static void
test_freed_start(void **state)
{
	static const char listed[] = "ffffffff81000000 T _text\n"
				     "ffffffffc0100000 t in_module\t[snd_pcm]\n"
				     "ffffffffc0100100 t its_last\t[snd_pcm]\n"
				     "ffffffffc0102000 d its_data\t[snd_pcm]\n"
				     "ffffffffc0080000 t timer\t[snd_timer]\n"
				     "ffffffffc0100000 t timer_init\t[snd_timer]\n";
	struct fixture *f = *state;

	given(f, listed, &none, false);
	map(f, "[kernel.kallsyms]_text", TEXT, 0x3000, TEXT);
	map(f, "/lib/modules/6.18.5/kernel/sound/core/snd-pcm.ko.xz", UINT64_C(0xffffffffc0100000),
	    0x3000, 0);
	map(f, "[snd_timer]", UINT64_C(0xffffffffc0080000), 0x1000, 0);
	assert_string_equal(name(f, UINT64_C(0xffffffffc0100001), "[snd_pcm]"), "in_module");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0101fff), "[snd_pcm]"), "its_last");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0102000), ""), "");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0080fff), "[snd_timer]"), "timer");
	assert_string_equal(name(f, UINT64_C(0xffffffffc0081000), ""), "");
}

static void
test_place_unknown(void **state)
{
	struct fixture *f = *state;

	given(f, symbols, &none, false);
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "where the kernel lay"));
	/* The next recording is of this boot: the kernel lies where it lay. */
	kernel_image_next(f->image, &none, NULL, true);
	assert_string_equal(name(f, TEXT + 0x1010, "[kernel.kallsyms]"), "first");
	/* What the one before mapped is forgotten. */
	map(f, "[kernel.kallsyms]_text", TEXT + MOVED, 0x3000, TEXT + MOVED);
	kernel_image_next(f->image, &none, NULL, false);
	assert_string_equal(name(f, TEXT + MOVED + 0x1010, ""), "");
}

/* A sample before the map that tells where it lies, as no perf writes it. */
static void
test_place_comes_late(void **state)
{
	struct fixture *f = *state;

	given(f, symbols, &none, false);
	assert_string_equal(name(f, TEXT + MOVED + 0x1010, ""), "");
	map(f, "[kernel.kallsyms]_text", TEXT + MOVED, 0x3000, TEXT + MOVED);
	assert_string_equal(name(f, TEXT + MOVED + 0x1010, "[kernel.kallsyms]"), "first");
}

static void
test_hidden(void **state)
{
	struct fixture *f = *state;

	given(f, hidden, &none, true);
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "has no addresses"));
}

/* More than any kernel has is not "no memory". */
static void
test_too_big(void **state)
{
	struct fixture *f = *state;
	const size_t nr = 70000;
	const size_t room = nr * 64;
	char *text = malloc(room), *at = text;

	assert_non_null(text);
	for (size_t i = 0; i < nr; i++)
		at += snprintf(at, room - (size_t)(at - text), "%zx T f%zu\t[m%zu]\n",
			       (size_t)TEXT + i, i, i);
	given(f, text, &none, true);
	free(text);
	assert_string_equal(name(f, TEXT + 1, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "cannot be read"));
}

static void
test_unreadable(void **state)
{
	struct fixture *f = *state;

	given(f, "nothing of the kind\n", &none, true);
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "--kallsyms"));
}

/* Nothing was given: the running kernel, when it is the recorded one. */
static void
test_running(void **state)
{
	const struct buildid other = buildid_of(BUILDID_GNU, (const uint8_t *)"abcdefgh", 8);
	struct kernel_image_options nothing = { .kallsyms = NULL };
	struct fixture *f = *state;

	f->image = kernel_image_new(&nothing, f->strings);
	assert_non_null(f->image);
	kernel_image_next(f->image, &other, "", true);
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "not the one that runs here"));
	kernel_image_next(f->image, &none, NULL, true);
	assert_null(kernel_image_trouble(f->image));
	assert_string_equal(name(f, TEXT + 0x1010, ""), "");
	assert_non_null(strstr(kernel_image_trouble(f->image), "is not known"));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_where_it_lay),	  T(test_moved),	 T(test_padding),
		T(test_other_modules),	  T(test_place_unknown), T(test_hidden),
		T(test_freed_start),	  T(test_unreadable),	 T(test_running),
		T(test_place_comes_late), T(test_too_big),
	};

	return cmocka_run_group_tests_name("kernel_image", tests, NULL, NULL);
}
