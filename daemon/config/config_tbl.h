/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_tbl: every key of spoord.conf, once. Whoever includes this defines
 * CONFIG_ROW(key, type, change, default text, minimum, maximum, unit, help). Types: STRING, PATH,
 * COUNT (a number), BYTES ("512M"), TIME ("5m"), PERCENT ("0.5%"), EVENTS (comma list),
 * SPACE (bytes, or a percentage of the file system; empty: journald's kind of default).
 * A change that a reload finds is in force AT_ONCE, with a new SESSION, or after a RESTART.
 * Limits are of the number as written: Hz, bytes, whole percent, for a TIME seconds, for a
 * STRING or PATH its length. Maximum 0: none.
 * No include guard on purpose.
 */
CONFIG_ROW(archive_directory, PATH, RESTART, "/var/lib/spoor", 0, 0, "", "where segments are kept")
CONFIG_ROW(control_socket, PATH, RESTART, "/run/spoor/io.spoor.Recorder", 0, 107, "",
	   "control socket")
CONFIG_ROW(control_group, STRING, RESTART, "spoor", 0, 0, "", "members may look, capture and keep")
CONFIG_ROW(frequency, COUNT, AT_ONCE, "19", 1, 100000, "Hz", "samples a second on each CPU")
CONFIG_ROW(events, EVENTS, SESSION, "", 0, 0, "", "what to sample; empty: the best cycle counter")
CONFIG_ROW(call_graph, STRING, SESSION, "fp", 0, 0, "", "fp, auto[,BYTES], none, or dwarf[,BYTES]")
CONFIG_ROW(build_ids, STRING, SESSION, "auto", 0, 0, "",
	   "auto, kernel or file: who is asked for them")
CONFIG_ROW(store_objects, STRING, SESSION, "ephemeral", 0, 0, "",
	   "copies of mapped files: ephemeral, all or none")
CONFIG_ROW(flight_recorder, STRING, RESTART, "none", 0, 0, "",
	   "last samples for spoorctl dump, as 10s @ 999; or none")
CONFIG_ROW(counters, EVENTS, SESSION, "", 0, 0, "",
	   "events to count beside; auto: those of perf stat; empty: none")
CONFIG_ROW(counter_interval, TIME, SESSION, "10s", 1, 86400, "", "counters are read every")
CONFIG_ROW(ring_pages, COUNT, SESSION, "32", 1, 65536, "pages", "of the sample ring of each CPU")
CONFIG_ROW(max_use, SPACE, AT_ONCE, "", 65536, 0, "",
	   "most that the archive may take; 10%, at most 4G")
CONFIG_ROW(keep_free, SPACE, AT_ONCE, "", 0, 0, "", "least that stays free; 15%, at most 4G")
CONFIG_ROW(captures_share, PERCENT, AT_ONCE, "50%", 1, 100, "of max_use",
	   "most that captures may take")
CONFIG_ROW(objects_share, PERCENT, AT_ONCE, "10%", 1, 50, "of max_use",
	   "set aside for copies of mapped files")
CONFIG_ROW(sideband_share, PERCENT, AT_ONCE, "50%", 0, 100, "of max_use",
	   "most an hour of side-band; a user half; 0: no limit")
CONFIG_ROW(max_age, TIME, AT_ONCE, "0", 0, 0, "", "segments older than this are deleted; 0: none")
CONFIG_ROW(max_segments, COUNT, AT_ONCE, "0", 0, 1000000, "", "most sealed segments; 0: no limit")
CONFIG_ROW(segment_size, BYTES, AT_ONCE, "0", 0, 0, "",
	   "a segment is closed at; 0: max_use/8, at most 128M")
CONFIG_ROW(segment_age, TIME, AT_ONCE, "1h", 1, 0, "", "a segment is closed after")
CONFIG_ROW(block_age, TIME, SESSION, "5s", 1, 60, "", "a block is written after")
CONFIG_ROW(sync_interval, TIME, AT_ONCE, "30s", 0, 0, "", "data are synced to disk every; 0: never")
CONFIG_ROW(cpu_budget, PERCENT, AT_ONCE, "1%", 0, 100, "",
	   "of one CPU, for the daemon; 0: no limit")
CONFIG_ROW(memory_budget, BYTES, AT_ONCE, "64M", 0, 0, "", "resident memory; 0: no limit")
CONFIG_ROW(disk_budget, BYTES, AT_ONCE, "0", 0, 0, "a second",
	   "written to the archive; 0: no limit")
CONFIG_ROW(max_captures, COUNT, AT_ONCE, "4", 0, 64, "", "captures at the same time")
CONFIG_ROW(capture_cpu, PERCENT, AT_ONCE, "10%", 0, 100, "of each CPU",
	   "for sampling by captures; 0: no limit")
CONFIG_ROW(max_capture_time, TIME, AT_ONCE, "10m", 1, 0, "", "longest capture")
CONFIG_ROW(max_clients, COUNT, AT_ONCE, "64", 1, 4096, "", "connections to the control socket")
CONFIG_ROW(client_timeout, TIME, AT_ONCE, "30s", 1, 0, "",
	   "an idle or stuck connection is closed after")
