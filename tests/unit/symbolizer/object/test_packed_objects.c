/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files inside of a recording: put behind what there was, and taken out again; damaged, false and too many. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/recording/recording_resume.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/object/packed_objects.h"
#include "tests/lab/elf_lab.h"
#include "tests/lab/recording_maker.h"

#define SAMPLES 200
#define MANY 20
#define LONG_BYTES (16u << 20)
#define MEMORY (256u << 20)

static const char program[] = "int main(void) { return 0; }\n";

/* A file that is to be packed: an ELF file, or bytes that only look like one. */
struct what {
	struct packed_object about;
	uint8_t *bytes; /* its own */
	size_t piece;	/* bytes of one */
	uint32_t lie;	/* pieces more than there are */
};

static struct buildid
id_of(const char *path)
{
	struct elf_object *o = elf_lab_open(path);
	struct buildid id;

	assert_int_equal(elf_object_recorded_id(o, &id), 0);
	elf_object_close(o);
	return id;
}

static void
put_object(struct recording_writer *w, struct what *what)
{
	struct packed_object *about = &what->about;
	struct recording_writer_stats st;
	struct buf b;

	recording_writer_stats(w, &st);
	about->pieces = (uint32_t)((about->size + what->piece - 1) / what->piece) + what->lie;
	buf_init(&b);
	packed_object_put(&b, about);
	assert_int_equal(recording_writer_block(w, BLOCK_OBJECT, buf_span(&b), NULL), 0);
	for (uint64_t at = 0; at < about->size; at += what->piece) {
		size_t n = about->size - at < what->piece ? (size_t)(about->size - at)
							  : what->piece;

		buf_clear(&b);
		packed_piece_put(
			&b, &(struct packed_piece){ st.blocks, at, span_of(what->bytes + at, n) });
		assert_int_equal(recording_writer_block(w, BLOCK_PIECE, buf_span(&b), NULL), 0);
	}
	buf_done(&b);
}

/* The recording, and behind it these. */
static void
pack(const struct memory_file *old, struct memory_file *new, struct what *what, size_t nr)
{
	struct io_source *source = io_source_memory(old->p, old->n);
	struct recording_reader *r;
	struct recording_writer *w;

	*new = (struct memory_file){ 0 };
	assert_int_equal(recording_reader_open(io_source_memory(old->p, old->n), &r, NULL), 0);
	assert_int_equal(recording_resume(r, source, memory_sink(new), NULL, &w, NULL), 0);
	for (size_t i = 0; i < nr; i++)
		put_object(w, &what[i]);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_reader_close(r);
	source->close(source);
}

static struct recording_health
health_of(const struct memory_file *f, uint64_t *ret_samples)
{
	struct recording_health h;
	struct recording_reader *r;
	struct block b;

	*ret_samples = 0;
	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0)
		*ret_samples += b.header.type == BLOCK_RECORDS ? b.header.samples : 0;
	h = *recording_reader_health(r);
	recording_reader_close(r);
	return h;
}

static void
assert_clean(const struct memory_file *f)
{
	struct recording_reader *r;

	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	assert_int_equal(recording_reader_verify(r, NULL), 0);
	recording_reader_close(r);
}

static struct packed_objects *
objects_of(const struct memory_file *f)
{
	struct packed_objects *p;

	assert_int_equal(packed_objects_new(io_source_memory(f->p, f->n), &p), 0);
	return p;
}

static struct what
what_of(const char *path, struct buildid id, size_t piece)
{
	struct what what = { .piece = piece };
	size_t size;

	what.bytes = lab_read(path, &size);
	what.about = (struct packed_object){ .kind = PACKED_OBJECT,
					     .id = id,
					     .code = true,
					     .size = size,
					     .changed_ns = UINT64_C(1700000000123456789),
					     .path = path,
					     .path_len = strlen(path) };
	return what;
}

static void
what_done(struct what *what, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(what[i].bytes);
}

static void
assert_there(struct packed_objects *p, const struct what *what)
{
	uint8_t *bytes = calloc(1, what->about.size + 1);
	int fd = packed_objects_fd(p, what->about.kind, &what->about.id);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, what->about.size);
	assert_int_equal(pread(fd, bytes, what->about.size + 1, 0), what->about.size);
	assert_memory_equal(bytes, what->bytes, what->about.size);
	close(fd);
	free(bytes);
}

/* What was there is there as it was, and finds what was put behind it. */
static void
test_round_trip(void **state)
{
	const char *path = lab_build("a", program, 0, "");
	struct what what[] = { what_of(path, id_of(path), 1000),
			       what_of(path, id_of(path), PACKED_PIECE_BYTES) };
	struct memory_file old = { 0 }, none = { 0 }, new;
	struct elf_object *elf;
	struct packed_objects *p;
	uint64_t samples;
	bool code = false;

	what[1].about.kind = PACKED_DEBUG;
	maker_recording(&old, 1, SAMPLES, 300, 5);
	pack(&old, &new, what, 2);
	assert_clean(&new);
	health_of(&new, &samples);
	assert_int_equal(samples, SAMPLES);
	/* All but the END. */
	assert_memory_equal(old.p, new.p, old.n - BLOCK_HEADER_BYTES - 64);
	maker_recording(&none, 1, 0, 300, 5);
	assert_int_equal(packed_objects_new(io_source_memory(none.p, none.n), &p), 0);
	assert_null(p);
	memory_file_done(&none);
	/* The maker's one comes first. */
	p = objects_of(&new);
	assert_int_equal(packed_objects_count(p), 3);
	assert_string_equal(packed_objects_at(p, 0)->path, "/bin/cat");
	assert_string_equal(packed_objects_at(p, 1)->path, path);
	assert_there(p, &what[0]);
	assert_there(p, &what[0]);
	assert_there(p, &what[1]);
	assert_int_equal(packed_objects_fd(p, PACKED_ALT, &what[0].about.id), -1);
	assert_int_equal(
		packed_objects_open(p, PACKED_OBJECT, &what[0].about.id, false, &elf, &code), 0);
	assert_non_null(elf);
	assert_true(code);
	elf_object_close(elf);
	packed_objects_free(packed_objects_ref(p));
	packed_objects_free(p);
	packed_objects_free(NULL);
	assert_int_equal(packed_objects_fd(NULL, PACKED_OBJECT, &what[0].about.id), -1);
	what_done(what, 2);
	memory_file_done(&old);
	memory_file_done(&new);
}

/* A recorder that was killed, and damage in the middle: what there is goes on being read as before. */
static void
test_of_what_is_left(void **state)
{
	const char *path = lab_build("a", program, 0, "");
	struct what what = what_of(path, id_of(path), PACKED_PIECE_BYTES);
	struct memory_file old = { 0 }, new, cut;
	uint64_t samples, packed;
	struct packed_objects *p;

	maker_recording(&old, 1, SAMPLES, 300, 5);
	for (size_t n = old.n / 2; n < old.n; n += 37) {
		cut = old;
		cut.n = n;
		health_of(&cut, &samples);
		pack(&cut, &new, &what, 1);
		assert_clean(&new);
		health_of(&new, &packed);
		assert_int_equal(packed, samples);
		p = objects_of(&new);
		assert_there(p, &what);
		packed_objects_free(p);
		memory_file_done(&new);
	}
	for (size_t at = old.n / 4; at < old.n; at += 301) {
		struct recording_health before, after;

		old.p[at] ^= 1;
		before = health_of(&old, &samples);
		pack(&old, &new, &what, 1);
		after = health_of(&new, &packed);
		assert_int_equal(packed, samples);
		assert_true(after.damaged_blocks >= before.damaged_blocks || !before.closed);
		p = objects_of(&new);
		assert_there(p, &what);
		packed_objects_free(p);
		memory_file_done(&new);
		old.p[at] ^= 1;
	}
	what_done(&what, 1);
	memory_file_done(&old);
}

/* A damaged piece is counted, and costs its file and no other. */
static void
test_damage(void **state)
{
	const char *path = lab_build("a", program, 0, "");
	struct what what[] = { what_of(path, id_of(path), 2000), what_of(path, id_of(path), 2000) };
	struct memory_file old = { 0 }, new;
	struct packed_objects *p;
	size_t lost = 0, tried = 0;
	uint64_t samples;

	what[1].about.kind = PACKED_DEBUG;
	maker_recording(&old, 1, SAMPLES, 300, 5);
	pack(&old, &new, what, 2);
	for (size_t at = old.n; at < new.n - 2000; at += 501, tried++) {
		int fd[2];

		new.p[at] ^= 0x10;
		assert_true(health_of(&new, &samples).damaged_blocks > 0 ||
			    health_of(&new, &samples).damaged_bytes > 0);
		assert_int_equal(samples, SAMPLES);
		p = objects_of(&new);
		for (size_t i = 0; i < 2; i++)
			fd[i] = packed_objects_fd(p, what[i].about.kind, &what[i].about.id);
		assert_true(fd[0] >= 0 || fd[1] >= 0);
		lost += fd[0] < 0 || fd[1] < 0;
		for (size_t i = 0; i < 2; i++)
			if (fd[i] >= 0)
				close(fd[i]);
		packed_objects_free(p);
		new.p[at] ^= 0x10;
	}
	assert_true(tried > 5 && lost > tried / 2);
	what_done(what, 2);
	memory_file_done(&old);
	memory_file_done(&new);
}

/* Whoever made the recording may say what he likes: what is given has the build-id that is asked for. */
static void
test_lies(void **state)
{
	const char *path = lab_build("a", program, 0, "");
	struct buildid id = id_of(path), other = id;
	struct memory_file old = { 0 }, new;
	struct what what[] = { what_of(path, id, 1000), what_of(path, id, 1000) };
	struct packed_objects *p;
	struct elf_object *elf;
	bool code;

	other.bytes[0] ^= 1;
	what[0].about.id = other; /* of another build */
	what[1].lie = 1;	  /* a piece is missing */
	what[1].about.kind = PACKED_DEBUG;
	maker_recording(&old, 1, SAMPLES, 300, 5);
	pack(&old, &new, what, 2);
	p = objects_of(&new);
	assert_int_equal(packed_objects_open(p, PACKED_OBJECT, &other, false, &elf, &code), 0);
	assert_null(elf);
	assert_int_equal(packed_objects_fd(p, PACKED_DEBUG, &id), -1);
	assert_int_equal(packed_objects_fd(p, PACKED_DEBUG, &id), -1);
	packed_objects_free(p);
	what_done(what, 2);
	memory_file_done(&old);
	memory_file_done(&new);
}

static bool
is_memory(int fd)
{
	char link[64], to[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	assert_true(readlink(link, to, sizeof(to) - 1) > 0);
	return strncmp(to, "/memfd:", 7) == 0;
}

/* How many of nr files there are, and in memory; all are open at a time. */
static size_t
count_given(const struct memory_file *f, const struct what *what, size_t nr, size_t *ret_memory)
{
	struct packed_objects *p = objects_of(f);
	int fd[MANY];
	size_t given = 0;

	*ret_memory = 0;
	for (size_t i = 0; i < nr; i++) {
		fd[i] = packed_objects_fd(p, what[i].about.kind, &what[i].about.id);
		given += fd[i] >= 0;
		if (fd[i] >= 0 && is_memory(fd[i])) {
			++*ret_memory;
			assert_int_equal(pwrite(fd[i], "x", 1, 0), -1);
			assert_int_equal(ftruncate(fd[i], 0), -1);
		}
	}
	for (size_t i = 0; i < nr; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	packed_objects_free(p);
	return given;
}

/* Small in the recording, long outside of it: all that are in memory have a bound, and a false one takes nothing. */
static void
test_memory(void **state)
{
	const char *path = lab_build("a", program, 0, "");
	const struct buildid id = id_of(path);
	struct memory_file old = { 0 }, new, false_ones;
	struct what what[MANY];
	size_t size, in_memory;
	uint8_t *bytes = lab_read(path, &size);

	for (size_t i = 0; i < MANY; i++) {
		uint8_t *own = malloc(LONG_BYTES), *at;

		assert_non_null(own);
		memset(own, 'x', LONG_BYTES);
		memcpy(own, bytes, size);
		at = memmem(own, size, id.bytes, id.size);
		assert_non_null(at);
		at[0] = (uint8_t)i;
		what[i] = (struct what){ .bytes = own, .piece = PACKED_PIECE_BYTES };
		what[i].about = (struct packed_object){ .kind = PACKED_OBJECT,
							.id = id,
							.size = LONG_BYTES,
							.path = "/a",
							.path_len = 2 };
		what[i].about.id.bytes[0] = (uint8_t)i;
	}
	maker_recording(&old, 1, 0, 300, 5);
	pack(&old, &new, what, MANY);
	assert_true(new.n < LONG_BYTES);
	setenv("TMPDIR", lab_dir(), 1);
	assert_int_equal(count_given(&new, what, MANY, &in_memory), MANY);
	assert_int_equal(in_memory, MEMORY / LONG_BYTES);
	setenv("TMPDIR", "/nowhere", 1);
	assert_int_equal(count_given(&new, what, MANY, &in_memory), MEMORY / LONG_BYTES);
	for (size_t i = 0; i < MANY - 1; i++)
		what[i].about.id.bytes[1] ^= 1;
	pack(&old, &false_ones, what, MANY);
	assert_int_equal(count_given(&false_ones, what, MANY, &in_memory), 1);
	assert_int_equal(in_memory, 1);
	unsetenv("TMPDIR");
	what_done(what, MANY);
	free(bytes);
	memory_file_done(&old);
	memory_file_done(&new);
	memory_file_done(&false_ones);
}

/* What is found for path, of which the recording has these files. */
static void
assert_stored(const char *path, struct what *what, bool debug, bool alt, bool stored)
{
	static const char *const dirs[] = { NULL };
	struct object_debug_sums sums;
	struct object_places places = { .debug_dirs = dirs, .sums = &sums };
	struct memory_file old = { 0 }, new;
	enum resolve_miss miss;
	struct map_object wanted;
	struct task_map map;
	struct object *o;

	object_debug_sums_init(&sums);
	maker_recording(&old, 1, SAMPLES, 300, 5);
	pack(&old, &new, what, what ? 1 : 0);
	places.packed = what ? objects_of(&new) : NULL;
	lab_map(path, UINT64_C(0x7f1234560000), &wanted, &map);
	assert_int_equal(object_store_load(&places, &wanted, &map, NULL, &o, &miss), 0);
	assert_non_null(o);
	assert_int_equal(o->debug_fd >= 0, debug);
	assert_int_equal(o->alt_fd >= 0, alt);
	assert_int_equal(o->stored, stored);
	object_free(o);
	packed_objects_free(places.packed);
	object_debug_sums_done(&sums);
	memory_file_done(&old);
	memory_file_done(&new);
}

/* An object is this host's, and a file with its debug information came with the recording: that is told. */
static void
test_whose_debug(void **state)
{
	const char *whole = lab_keep(lab_build("whole", program, 0, "-g"));
	const char *alt = lab_keep(lab_build("alt", "int main(void) { return 1; }\n", 0, "-g"));
	struct what debug = what_of(whole, id_of(whole), PACKED_PIECE_BYTES);
	struct what common = what_of(alt, id_of(alt), PACKED_PIECE_BYTES);

	debug.about.kind = PACKED_DEBUG;
	common.about.kind = PACKED_ALT;
	lab_run("strip -o stripped whole");
	assert_stored(lab_keep(lab_path("stripped")), NULL, false, false, false);
	assert_stored(lab_keep(lab_path("stripped")), &debug, true, false, true);
	lab_run("objcopy -O binary --only-section=.note.gnu.build-id alt note &&"
		"(printf 'common\\0' && tail -c 20 note) >link &&"
		"objcopy --add-section .gnu_debugaltlink=link whole linked");
	assert_stored(lab_keep(lab_path("linked")), NULL, true, false, false);
	assert_stored(lab_keep(lab_path("linked")), &common, true, true, true);
	what_done(&debug, 1);
	what_done(&common, 1);
}

static void
test_payloads(void **state)
{
	struct packed_object o = {
		.kind = PACKED_ALT, .size = PACKED_FILE_MAX, .path = "/a", .path_len = 2
	};
	struct packed_object back;
	struct packed_piece piece;
	struct buf b;

	o.id = buildid_of(BUILDID_GNU, "12345678901234567890", 20);
	buf_init(&b);
	packed_object_put(&b, &o);
	assert_int_equal(packed_object_read(buf_span(&b), &back), 0);
	assert_int_equal(back.kind, PACKED_ALT);
	assert_int_equal(back.size, PACKED_FILE_MAX);
	assert_int_equal(back.path_len, 2);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(packed_object_read(span_of(b.p, n), &back), -FMT_E_CORRUPT);
	buf_clear(&b);
	o.size++;
	packed_object_put(&b, &o);
	assert_int_equal(packed_object_read(buf_span(&b), &back), -FMT_E_CORRUPT);
	o.size = 1;
	o.id.size = 0;
	buf_clear(&b);
	packed_object_put(&b, &o);
	assert_int_equal(packed_object_read(buf_span(&b), &back), -FMT_E_CORRUPT);
	assert_int_equal(packed_piece_read(span_of(b.p, 15), &piece), -FMT_E_CORRUPT);
	assert_int_equal(packed_piece_read(span_of(b.p, 16), &piece), 0);
	assert_int_equal(piece.bytes.len, 0);
	buf_clear(&b);
	buf_zero(&b, 16 + PACKED_PIECE_BYTES + 1);
	assert_int_equal(packed_piece_read(buf_span(&b), &piece), -FMT_E_CORRUPT);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_of_what_is_left),
		cmocka_unit_test(test_damage),	   cmocka_unit_test(test_lies),
		cmocka_unit_test(test_memory),	   cmocka_unit_test(test_whose_debug),
		cmocka_unit_test(test_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
