# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs, side by side with the installed perf, and what is stored.

Cost: spoor record, perf record and perf record -z, each of all CPUs with call chains, over the same
load (load.sh), in turns, another one first each round. CPU time is user + system of the recorder
and of the `sleep` that ends it, by wait4(2). "start" is a recording of next to nothing; ns/sample is
what is over that. perf gets --buildid-mmap: its files then name their objects as spoor's do, and it
need not read its own output again at the end. --before names a spoor of an earlier build, which then
records in turns with them: what is new costs those who do not ask for it nothing. Samples and losses of all files are counted by spoor info.

Stored: spoor records the tasks of each load. Bytes a sample are those of the file: blocks of samples
with their headers; these and the side-band (forks, maps, names); the whole file with kernel symbols,
snapshot and index. zstd -1 packs the same raw records. See columns.c for that and for the encoder's times.

Reading: what perf record -g took of the mixed load, imported, so that both read the same samples; wall time of
whole commands, in turns. And an archive of two hours of 64 CPUs at 19 Hz (archive_maker), scaled to a day.

Unwinding: what perf record --call-graph dwarf took of a g++ run, imported; to folded stacks with inlined frames, by spoor
without its cache and with it, and by perf script, which is run once.

Many: a million samples at 50,000 places of large libraries (many_addresses.py), a flat report of functions and one of lines.

Pages: the flame graph, and the pprof, of perf record's samples of the mixed load, scaled to a million; and how long headless Chromium
takes to draw one of 100,000 distinct stacks (flame_page.py), where it is installed.

Symbolizing: addresses of libjvm, where openjdk-17-dbg is installed, else of libc (libc6-dbg), by spoor symbolize without
its cache, llvm-symbolizer and addr2line: at random, as a profile has them (of some 120 places), one. The file is unpacked first, but for the last row.
Names at random by its symbol tables alone.

Stacks: whole stacks of all CPUs, by spoor record --call-graph fp, auto and auto,8192, and by perf record --call-graph dwarf,8192,
over the same load, in turns. CPU time is that of the recorder and of all that it starts. "whole" is the share of the copied
stacks that were walked to their outermost frame: of perf's, which walks none, by spoor, that imports its recording.

Switches: two processes and a pipe on one CPU (tests/fixtures/waits), with nothing recorded, and with each recorder of all
CPUs. "load" is the CPU time of both a switch, so with what the kernel adds to it; what is over nothing, and the recorder's own,
times 50,000, is what a storm of so many a second costs.

Flight: spoord without a flight recorder and with two, over fixed work on each CPU (flight.py): its own CPU time, what the work took
more, and how long a dump takes. CPU time of an interrupt is that of the work it interrupts.

Figures are medians; ratios below 1 are in spoor's favour. The machine need not be quiet, but has to be as busy for one
as for the other: run it again when "samples" differ.
"""
import argparse
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FAST, SLOW, STORED_HZ = 19999, 999, 4999
LOADS = ('repetitive', 'mixed', 'hostile')
WORK = [('start', 19)] + [('mixed', SLOW)] + [(load, FAST) for load in LOADS]
# Targets: recorder's CPU time against perf -z, and an earlier spoor (medians differ by so much); bytes a sample, in
# blocks of samples, and against zstd -1
CPU_TARGETS = {'perf -z': 0.7, 'before': 1.1}
BYTES_TARGET = {'repetitive': 3, 'mixed': 7.5, 'hostile': 11.5}
RATIO_TARGET = 0.55
# Reading: how many times faster than what of perf; seconds of a day of 64 CPUs, MiB
READING = [('report', 'report --stdio -g none', 10), ('export -f folded', 'script', 20),
           ('report --children', 'report --stdio', 50)]
DAY_TARGET, DAY_MIB, HEATMAP_TARGET = 5, 256, 5
ARCHIVE_SECONDS = 7200
# Exports of so many samples: seconds and MiB of pprof, then MiB of any form and view
EXPORTED, EXPORT_S, EXPORT_MIB = 1000000, 1, 256
EXPORTED_MANY, EXPORT_MANY_MIB = 10000000, 512
MANY_VIEWS = (('report',), ('report', '--no-children'), ('tree',), ('tree', '--inverted'), ('flamegraph',),
              ('flamegraph', '--svg'))
EXPORT_FORMS = ('folded', 'pprof', 'otlp', 'speedscope', 'callgrind', 'firefox', 'perf-script', 'json', 'csv')
# Flight recorders beside spoord
FLIGHTS = ('none', '10s @ 999', '10s @ 9999')
# Switches: rounds of a pipe, and a storm of so many switches a second
PINGPONG_ROUNDS, STORM = 100000, 50000
# Stacks: what auto costs a sample, to others, at most
STACKS = (('mixed', SLOW), ('hostile', SLOW), ('mixed', 19))
STACKS_TARGETS = ((SLOW, 'cpu', 'perf dwarf', 0.5), (SLOW, 'bytes', 'perf dwarf', 1 / 30), (SLOW, 'bytes', 'fp', 1.5),
                  (19, 'cpu', 'fp', 2))
PR_SET_CHILD_SUBREAPER = 36
# Unwinding: how many times faster than perf script, and seconds
UNWINDING, UNWINDING_S = 50, 1.5
COMPILED = ('algorithm', 'filesystem', 'functional', 'future', 'iostream', 'map', 'regex', 'string', 'unordered_map',
            'variant', 'vector')
# Many: samples, places, of those objects that are here; seconds without a cache and with it
MANY_SAMPLES, MANY_PLACES, MANY_COLD, MANY_CACHED = 1000000, 50000, 3, 0.3
MANY_OBJECTS = ['/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so', '/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus',
                '/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1', '/usr/lib/x86_64-linux-gnu/libstdc++.so.6',
                '/usr/lib/x86_64-linux-gnu/libc.so.6']
# Pages: seconds to write a million samples (also as pprof), to draw so many stacks; ms of a frame of a zoom
PAGE_S, PAGE_STACKS, DRAWN_S, ZOOM_MS = 1, 100000, 2, 50
# Symbolizing: of llvm-symbolizer's time, and of its memory
SYMBOLIZED = ['/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so', '/usr/lib/x86_64-linux-gnu/libc.so.6']
SYMBOLIZING = [('random', 10000, 0.65), ('profile', 10000, 0.75), ('one', 1, 0.35), ('random, packed', 10000, 0.65)]
SYMBOLIZING_MEMORY = 0.5
# Names alone, from the symbol tables: millions a second
LOOKUPS, LOOKUPS_TARGET = 5000000, 5


def output(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True).stdout


def verdict(met):
    return 'met' if met else 'NOT MET'


@contextlib.contextmanager
def kernel_limits():
    """A rate that the kernel neither refuses nor lowers while we measure; put back afterwards."""
    rate, percent = ('/proc/sys/kernel/' + name for name in ('perf_event_max_sample_rate', 'perf_cpu_time_max_percent'))

    def read(path):
        with open(path) as f:
            return int(f.read())

    def write(new_rate, new_percent):
        # The rate cannot be written while the percentage is 0 or 100, which set no limit.
        for path, value in ((percent, 25), (rate, new_rate), (percent, new_percent)):
            with open(path, 'w') as f:
                f.write(str(value))

    before = read(rate), read(percent)
    try:
        write(max(before[0], 2 * FAST), 0)
    except OSError as e:
        sys.exit(f'bench: {e.filename}: {e.strerror}; run it as root')
    try:
        yield
    finally:
        write(*before)


@contextlib.contextmanager
def own_cache(directory):
    """spoor's cache begins empty, and the user's stays as it is."""
    before = os.environ.get('XDG_CACHE_HOME')
    os.environ['XDG_CACHE_HOME'] = os.path.join(directory, 'cache')
    try:
        yield
    finally:
        del os.environ['XDG_CACHE_HOME']
        if before is not None:
            os.environ['XDG_CACHE_HOME'] = before


@contextlib.contextmanager
def running(load):
    child = subprocess.Popen([os.path.join(HERE, 'load.sh'), load], stdin=subprocess.DEVNULL,
                             preexec_fn=os.setpgrp)
    try:
        time.sleep(1)
        yield
    finally:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait()


def run(command, path):
    """Runs a recorder: its CPU time, and what is in its file."""
    with open(path + '.log', 'w+') as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            sys.exit(f'bench: {" ".join(command)}: exit {child.returncode}\n{log.read()}')
    return {'user': usage.ru_utime, 'sys': usage.ru_stime, 'cpu': usage.ru_utime + usage.ru_stime,
            'bytes': os.path.getsize(path)}


def perf_program():
    """Ubuntu's /usr/bin/perf is a wrapper that knows the running kernel only."""
    base = '/usr/lib/linux-tools'
    others = [os.path.join(base, d, 'perf') for d in sorted(os.listdir(base), reverse=True)] if os.path.isdir(base) else []
    for perf in [os.environ.get('PERF', 'perf'), *others]:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            return perf, output([perf, '--version']).strip()
    sys.exit('bench: no perf that works; make deps installs it')


def recorders(spoor, perf, before):
    same = ['-a', '-e', 'cpu-clock', '-F', '{hz}', '-o', '{path}']
    end = ['--', 'sleep', '{seconds}']
    help_text = subprocess.run([perf, 'record', '-h'], capture_output=True, text=True).stderr
    perf_same = [perf, 'record', '-g', *same, *(['--buildid-mmap'] if 'buildid-mmap' in help_text else [])]
    ours = ['record', '--call-graph', 'fp', *same, *end]
    return {'spoor': [spoor, *ours], 'perf': [*perf_same, *end], 'perf -z': [*perf_same, '-z', *end],
            **({'before': [before, *ours]} if before else {})}


def cost_of(load, hz, args, commands, spoor):
    """Medians by recorder, of rounds in turns."""
    runs = {name: [] for name in commands}
    names = list(commands)
    seconds = 0.1 if load == 'start' else args.seconds
    path = os.path.join(args.directory, 'recording')
    with running('mixed' if load == 'start' else load):
        for k in range(args.rounds):
            for name in names[k % len(names):] + names[:k % len(names)]:
                result = run([a.format(hz=hz, seconds=seconds, path=path) for a in commands[name]], path)
                info = json.loads(output([spoor, 'info', '--json', '-i', path]))
                runs[name].append({**result, 'samples': info['samples'], 'lost': info['lost']})
                os.unlink(path)
    return {name: {key: statistics.median(r[key] for r in list_) for key in list_[0]} for name, list_ in runs.items()}


def costs(args, commands, spoor):
    print(f'\nrecorder CPU time and file: -a -g, {args.seconds} s each, medians of {args.rounds} rounds in turns')
    print(f'{"load":<11}{"Hz":>6}  {"recorder":<9}{"samples":>9}{"lost":>7}{"CPU s":>8}{"(user":>8}{"sys)":>7}'
          f'{"ns/sample":>11}{"file bytes":>12}{"bytes/sample":>14}')
    table = {}
    for load, hz in WORK:
        table[load, hz] = cost_of(load, hz, args, commands, spoor)
        for name, m in table[load, hz].items():
            start = table[WORK[0]][name]['cpu']
            per = '' if load == 'start' else f'{(m["cpu"] - start) / m["samples"] * 1e9:.0f}'
            size = '' if load == 'start' else f'{m["bytes"] / m["samples"]:.2f}'
            print(f'{load:<11}{hz:>6}  {name:<9}{m["samples"]:>9.0f}{m["lost"]:>7.0f}{m["cpu"]:>8.3f}{m["user"]:>8.3f}'
                  f'{m["sys"]:>7.3f}{per:>11}{m["bytes"]:>12.0f}{size:>14}', flush=True)
    return table


def ratios(table, marks):
    print('\nratios of the medians above: CPU time, of it what is over the start, and file bytes; all a sample')
    start = table[WORK[0]]
    others = [name for name in start if name != 'spoor']
    print(f'{"":<17}' + ''.join(f'  {"spoor / " + other:^31}' for other in others))
    print(f'{"load":<11}{"Hz":>6}' + f'  {"samples":>8}{"CPU":>6}{"over start":>11}{"file":>6}' * len(others) + '   target')
    for (load, hz), m in list(table.items())[1:]:
        line, targets = f'{load:<11}{hz:>6}', ''
        for other in others:
            samples, cpu, size = (m['spoor'][key] / m[other][key] for key in ('samples', 'cpu', 'bytes'))
            ours, theirs = (m[name]['cpu'] - start[name]['cpu'] for name in ('spoor', other))
            # What is as small as the start's own variation says nothing.
            over = f'{ours / theirs / samples:.2f}' if theirs > 0.03 else '-'
            line += f'  {samples:>8.3f}{cpu / samples:>6.2f}{over:>11}{size / samples:>6.2f}'
            if hz == FAST and other in CPU_TARGETS:
                marks.append(cpu / samples <= CPU_TARGETS[other])
                targets += f'   CPU <= {CPU_TARGETS[other]} of {other}: {verdict(marks[-1])}'
        line += targets
        print(line)


def stored(args, spoor, marks):
    print(f'\nstored: the tasks of each load at {STORED_HZ} Hz for {args.stored_seconds} s; bytes a sample')
    print(f'{"":<29}{"blocks of samples":^25} {"and of side-band":^25}{"whole":>7}')
    print(f'{"load":<11}{"samples":>9}{"raw":>9}{"stored":>9}{"zstd -1":>9}{"ratio":>7}  {"stored":>8}{"zstd -1":>9}{"ratio":>7}'
          f'{"file":>8}   target')
    rows = {}
    path = os.path.join(args.directory, 'recording.spoor')
    for load in LOADS:
        # timeout(1) and spoor exit as what they ran, which a signal ended.
        subprocess.run([spoor, 'record', '-e', 'cpu-clock', '-F', str(STORED_HZ), '--call-graph', 'fp', '-o', path, '--',
                        'timeout', f'{args.stored_seconds}s', os.path.join(HERE, 'load.sh'), load],
                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows[load] = r = json.loads(output([os.path.join(args.build, 'tests/bench/columns'), path]))
        os.unlink(path)
        n = r['samples']
        of_samples, of_all = (r['stored'][i] / r['zstd'][i] for i in (0, 1))
        marks += [r['stored'][0] / n <= BYTES_TARGET[load], of_samples <= RATIO_TARGET]
        print(f'{load:<11}{n:>9}{r["raw"][0] / n:>9.1f}{r["stored"][0] / n:>9.2f}{r["zstd"][0] / n:>9.2f}{of_samples:>7.2f}'
              f'  {r["stored"][1] / n:>8.2f}{r["zstd"][1] / n:>9.2f}{of_all:>7.2f}{r["file"] / n:>8.2f}'
              f'   stored <= {BYTES_TARGET[load]}: {verdict(marks[-2])}, ratio <= {RATIO_TARGET}: {verdict(marks[-1])}', flush=True)
    print('\nthe encoder: CPU ns a sample, in blocks of samples')
    print(f'{"load":<11}{"columns":>9}{"+ zstd":>9}{"= both":>9}{"zstd -1 of raw":>16}{"decoding":>10}')
    for load, r in rows.items():
        both = r['encode_ns'] + r['pack_ns']
        print(f'{load:<11}{r["encode_ns"]:>9}{r["pack_ns"]:>9}{both:>9}{r["zstd_ns"]:>16}{r["decode_ns"]:>10}')
    return rows


def timed(command, given=os.devnull):
    """Wall and CPU seconds of one run, and MiB of the largest of its processes."""
    begun = time.monotonic()
    with open(given, 'rb') as stdin:
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f'bench: {" ".join(command)}: exit {child.returncode}')
    return {'wall': wall, 'cpu': usage.ru_utime + usage.ru_stime, 'mib': usage.ru_maxrss / 1024}


def in_turns(commands, rounds, given=os.devnull):
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(timed(command, given))
    return {name: {key: statistics.median(r[key] for r in list_) for key in list_[0]} for name, list_ in runs.items()}


def same_samples(args, spoor, perf):
    """Of perf record, and imported: their paths, and how many there are."""
    theirs, ours = (os.path.join(args.directory, name) for name in ('perf.data', 'imported.spoor'))
    with running('mixed'):
        subprocess.run([perf, 'record', '-q', '-a', '-g', '-e', 'cpu-clock', '-F', str(FAST), '-m', '4M', '-o', theirs, '--',
                        'sleep', str(args.reading_seconds)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run([spoor, 'import', theirs, '-o', ours], stderr=subprocess.DEVNULL, check=True)
    return theirs, ours, json.loads(output([spoor, 'info', '--json', '-i', ours]))['samples']


def reading(args, spoor, perf, marks):
    theirs, ours, samples = same_samples(args, spoor, perf)
    commands = {}
    for ours_is, theirs_is, _ in READING:
        commands['spoor ' + ours_is] = [spoor, *ours_is.split(), '-i', ours]
        commands['perf ' + theirs_is] = [perf, *theirs_is.split(), '-i', theirs]
    m = in_turns(commands, args.rounds)
    print(f'\nreading: {samples} samples of the mixed load, all CPUs, {FAST} Hz; medians of {args.rounds} rounds in turns')
    print(f'{"spoor":<20}{"wall s":>8}{"CPU s":>7}{"MiB":>6}  {"perf":<24}{"wall s":>8}{"CPU s":>7}{"MiB":>6}{"times":>8}   target')
    for ours_is, theirs_is, target in READING:
        a, b = m['spoor ' + ours_is], m['perf ' + theirs_is]
        times = b['wall'] / a['wall']
        marks.append(times >= target)
        print(f'{ours_is:<20}{a["wall"]:>8.2f}{a["cpu"]:>7.2f}{a["mib"]:>6.0f}  {theirs_is:<24}{b["wall"]:>8.2f}{b["cpu"]:>7.2f}'
              f'{b["mib"]:>6.0f}{times:>8.1f}   >= {target}: {verdict(marks[-1])}')
    return m


def archive(args, spoor, marks):
    directory = os.path.join(args.directory, 'archive')
    os.mkdir(directory)
    made = json.loads(output([os.path.join(args.build, 'tests/bench/archive_maker'), directory, str(ARCHIVE_SECONDS)]))
    both = in_turns({'day': [spoor, 'report', '-i', directory],
                     'heatmap': [spoor, 'heatmap', '--by', 'unit', '--bucket', '1m', '-i', directory]}, args.rounds)
    m = both['day']
    day = m['wall'] * 86400 / ARCHIVE_SECONDS
    marks += [day <= DAY_TARGET, m['mib'] <= DAY_MIB]
    print(f'archive: {made["samples"]} samples in {made["segments"]} segments: {m["wall"]:.2f} s, {m["cpu"]:.2f} s of CPU, '
          f'{m["mib"]:.0f} MiB; a day: {day:.1f} s   <= {DAY_TARGET} s: {verdict(marks[-2])}, <= {DAY_MIB} MiB: '
          f'{verdict(marks[-1])}')
    heat = both['heatmap']
    day = heat['wall'] * 86400 / ARCHIVE_SECONDS
    marks += [day <= HEATMAP_TARGET]
    print(f'         by service and minute: {heat["wall"]:.2f} s, {heat["cpu"]:.2f} s of CPU, {heat["mib"]:.0f} MiB; a day: '
          f'{day:.1f} s   <= {HEATMAP_TARGET} s: {verdict(marks[-1])}')
    return {**m, 'heatmap': heat}


def unwinding(args, spoor, perf, marks):
    source, theirs, ours = (os.path.join(args.directory, name) for name in ('run.cc', 'unwound.data', 'unwound.spoor'))
    with open(source, 'w') as f:
        f.writelines(f'#include <{header}>\n' for header in COMPILED)
        f.write('int main() { std::regex r("a+b"); std::map<std::string, std::vector<int>> m; auto &v = m["x"]; v.push_back(1);\n'
                'std::sort(v.begin(), v.end()); return std::regex_match("ab", r); }\n')
    subprocess.run([perf, 'record', '-q', '-e', 'cpu-clock', '-F', str(SLOW), '--call-graph', 'dwarf', '-o', theirs, '--',
                    'g++', '-std=c++17', '-O2', '-c', source, '-o', os.devnull],
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run([spoor, 'import', theirs, '-o', ours], stderr=subprocess.DEVNULL, check=True)
    fold = [spoor, 'export', '-f', 'folded', '-i', ours]
    m = in_turns({'no cache': [*fold, '--no-cache'], 'cached': fold}, args.rounds)
    m['perf'] = timed([perf, 'script', '-i', theirs])
    m['perf, no inline'] = timed([perf, 'script', '--no-inline', '-i', theirs])
    unwound = json.loads(output([spoor, 'report', '--json', '--children', '-i', ours]))['unwound']
    print(f'\nunwinding: g++ under --call-graph dwarf: {unwound["stacks"]} stacks of {unwound["frames"]} frames to folded lines, '
          f'medians of {args.rounds} rounds; perf script once: {m["perf"]["wall"]:.2f} s, {m["perf"]["mib"]:.0f} MiB '
          f'(--no-inline: {m["perf, no inline"]["wall"]:.2f} s)')
    for how in ('no cache', 'cached'):
        times = m['perf']['wall'] / m[how]['wall']
        marks += [times >= UNWINDING, m[how]['wall'] <= UNWINDING_S]
        print(f'{how:<20}{m[how]["wall"]:>8.2f} s{m[how]["cpu"]:>7.2f} s of CPU{m[how]["mib"]:>6.0f} MiB{times:>8.1f} times   '
              f'>= {UNWINDING}: {verdict(marks[-2])}, <= {UNWINDING_S} s: {verdict(marks[-1])}')
    return m


def many(args, spoor, marks):
    made, ours = (os.path.join(args.directory, name) for name in ('many.data', 'many.spoor'))
    objects = [path for path in MANY_OBJECTS if os.path.exists(path)]
    places = output([sys.executable, os.path.join(HERE, 'many_addresses.py'), made, str(MANY_SAMPLES), str(MANY_PLACES),
                     *objects]).strip()
    subprocess.run([spoor, 'import', made, '-o', ours], stderr=subprocess.DEVNULL, check=True)
    flat = [spoor, 'report', '--no-children', '-i', ours]
    lines = [*flat, '--sort', 'srcline']
    subprocess.run(lines, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    m = in_turns({'functions, no cache': [*flat, '--no-cache'], 'functions': flat, 'lines, no cache': [*lines, '--no-cache'],
                  'lines': lines}, args.rounds)
    print(f'\nmany: {MANY_SAMPLES} samples at {places} places of {", ".join(map(os.path.basename, objects))}; '
          f'medians of {args.rounds} rounds in turns')
    for how, x in m.items():
        target = MANY_COLD if 'no cache' in how else MANY_CACHED
        marks.append(x['wall'] <= target)
        print(f'{how:<20}{x["wall"]:>8.2f} s{x["cpu"]:>7.2f} s of CPU{x["mib"]:>6.0f} MiB   <= {target} s: {verdict(marks[-1])}')
    return m


def archive_of(args, name, samples):
    """An archive of 64 CPUs with so many samples, or some more."""
    directory = os.path.join(args.directory, name)
    os.mkdir(directory)
    output([os.path.join(args.build, 'tests/bench/archive_maker'), directory, str(samples // (64 * 19) + 1)])
    return directory


def exports(args, spoor, marks):
    few, many_ = archive_of(args, 'exported', EXPORTED), archive_of(args, 'exported_many', EXPORTED_MANY)
    m = in_turns({form: [spoor, 'export', '-f', form, '-i', few] for form in EXPORT_FORMS}, args.rounds)
    print(f'\nexports: {EXPORTED} samples, medians of {args.rounds} rounds in turns; {EXPORTED_MANY} samples once')
    for form, x in m.items():
        x['many'] = timed([spoor, 'export', '-f', form, '-i', many_])
        line = f'{form:<20}{x["wall"]:>8.2f} s{x["cpu"]:>7.2f} s of CPU{x["mib"]:>6.0f} MiB'
        if form == 'pprof':
            marks += [x['wall'] <= EXPORT_S, x['mib'] <= EXPORT_MIB]
            line += f'   <= {EXPORT_S} s: {verdict(marks[-2])}, <= {EXPORT_MIB} MiB: {verdict(marks[-1])}'
        marks.append(x['many']['mib'] <= EXPORT_MANY_MIB)
        print(f'{line}; {x["many"]["wall"]:.1f} s, {x["many"]["mib"]:.0f} MiB   <= {EXPORT_MANY_MIB} MiB: {verdict(marks[-1])}')
    for view in MANY_VIEWS:
        given = ('-o', os.path.join(args.directory, 'many.picture')) if view[0] == 'flamegraph' else ()
        x = m[' '.join(view)] = timed([spoor, *view, *given, '-i', many_])
        marks.append(x['mib'] <= EXPORT_MANY_MIB)
        print(f'{" ".join(view):<28}{EXPORTED_MANY} samples: {x["wall"]:.1f} s, {x["mib"]:.0f} MiB   '
              f'<= {EXPORT_MANY_MIB} MiB: {verdict(marks[-1])}')
    return m


def pages(args, spoor, perf, marks):
    _, ours, samples = same_samples(args, spoor, perf)
    page = os.path.join(args.directory, 'flame.html')
    m = in_turns({'flame graph': [spoor, 'flamegraph', '-o', page, '-i', ours],
                  'pprof': [spoor, 'export', '-f', 'pprof', '-o', os.path.join(args.directory, 'pages.pb.gz'), '-i', ours]}, args.rounds)
    print(f'\npages: {samples} samples of the mixed load; medians of {args.rounds} rounds')
    for name, x in m.items():
        million = x['wall'] * 1e6 / samples
        marks.append(million <= PAGE_S)
        print(f'{name:<20}{x["wall"]:>8.2f} s{x["cpu"]:>7.2f} s of CPU{x["mib"]:>6.0f} MiB; a million: {million:.2f} s   <= {PAGE_S} s: '
              f'{verdict(marks[-1])}')
    if not shutil.which('chromedriver') or subprocess.run(['/usr/bin/python3', '-c', 'import selenium'], stderr=subprocess.DEVNULL,
                                                           check=False).returncode:
        print('Chromium is not installed (make deps): how fast it draws is not known')
        return m
    d = m['drawing'] = json.loads(output(['/usr/bin/python3', os.path.join(HERE, 'flame_page.py'), page, str(PAGE_STACKS)]))
    marks += [d['drawn_s'] <= DRAWN_S, d['zoom_ms'] <= ZOOM_MS]
    print(f'drawing: {PAGE_STACKS} stacks, {d["nodes"]} nodes, {d["mb"]:.1f} MB: {d["drawn_s"]:.2f} s, of that own {d["own_ms"]:.0f} ms   '
          f'<= {DRAWN_S} s: {verdict(marks[-2])}; slowest frame of a zoom ({d["boxes"]} boxes) {d["zoom_ms"]:.0f} ms   <= {ZOOM_MS} ms: '
          f'{verdict(marks[-1])}; search {d["search_ms"]:.0f} ms, callers {d["callers_ms"]:.0f} ms')
    return m


def cpu_of_all(command):
    """CPU seconds of a command and of all that it starts, also of what it does not wait for."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cpu, failed = 0.0, False
        with contextlib.suppress(ChildProcessError):
            while True:
                ended, status, usage = os.wait4(-1, 0)
                cpu += usage.ru_utime + usage.ru_stime
                failed |= ended == child.pid and status != 0
        os.write(write, json.dumps([cpu, failed]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        cpu, failed = json.load(said)
    os.waitpid(pid, 0)
    if failed:
        sys.exit(f'bench: {" ".join(command)}: failed')
    return cpu


def stacks_of(spoor, command, path):
    """One recording: its CPU time and bytes, its samples, and the share of its copied stacks that are whole."""
    result = {'cpu': cpu_of_all(command), 'bytes': os.path.getsize(path)}
    ours = path
    if command[0] != spoor:
        ours = path + '.spoor'
        output([spoor, 'import', '-i', path, '-o', ours])
    info = json.loads(output([spoor, 'info', '--json', '-i', ours]))
    unwound = json.loads(output([spoor, 'report', '--json', '--children', '-i', ours]))['unwound']
    for name in {path, ours}:
        os.unlink(name)
    return {**result, 'samples': info['samples'], 'lost': info['lost'],
            'whole': unwound['end'] / unwound['stacks'] if unwound['stacks'] else 0}


def stacks(args, spoor, perf, marks):
    path = os.path.join(args.directory, 'stacks')
    same = ['-a', '-e', 'cpu-clock', '-o', path, '-F']
    commands = {name: [spoor, 'record', '--call-graph', how, *same]
                for name, how in (('fp', 'fp'), ('auto', 'auto'), ('auto 8 KiB', 'auto,8192'))}
    commands['perf dwarf'] = [perf, 'record', '--call-graph', 'dwarf,8192', '--buildid-mmap', *same]
    print(f'\nwhole stacks: -a, {args.seconds} s each, medians of {args.rounds} rounds in turns')
    print(f'{"load":<11}{"Hz":>6}  {"recorder":<11}{"samples":>9}{"lost":>7}{"CPU s":>8}{"bytes/sample":>14}{"whole":>9}')
    table = {}
    for load, hz in STACKS:
        runs = {name: [] for name in commands}
        with running(load):
            for _ in range(args.rounds):
                for name, command in commands.items():
                    runs[name].append(stacks_of(spoor, [*command, str(hz), '--', 'sleep', str(args.seconds)], path))
        m = table[load, hz] = {name: {key: statistics.median(r[key] for r in list_) for key in list_[0]}
                               for name, list_ in runs.items()}
        for name, r in m.items():
            whole = f'{100 * r["whole"]:.1f} %' if r['whole'] else '-'
            print(f'{load:<11}{hz:>6}  {name:<11}{r["samples"]:>9.0f}{r["lost"]:>7.0f}{r["cpu"]:>8.3f}'
                  f'{r["bytes"] / r["samples"]:>14.1f}{whole:>9}', flush=True)
        for target_hz, key, other, most in STACKS_TARGETS:
            if target_hz != hz:
                continue
            ratio = m['auto'][key] / m['auto']['samples'] / (m[other][key] / m[other]['samples'])
            marks.append(ratio <= most)
            print(f'{"":<19}{key} a sample, auto / {other}: {ratio:.3f}   target <= {most:.3f}: {verdict(marks[-1])}')
    return [{'load': load, 'hz': hz, **m} for (load, hz), m in table.items()]


def storm_beside(args, command, path):
    """CPU ns and bytes a switch: of the load, and of a recorder of all CPUs beside it (None: nothing)."""
    recorder = None
    if command:
        recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        time.sleep(1)
    load = subprocess.Popen(['taskset', '-c', '0', os.path.join(args.build, 'tests/fixtures/waits'), 'pingpong',
                             str(PINGPONG_ROUNDS)], stdout=subprocess.PIPE, text=True)
    switches = int(dict(line.split() for line in load.stdout)['switches'])
    _, status, usage = os.wait4(load.pid, 0)
    load.returncode = os.waitstatus_to_exitcode(status)
    result = {'load': (usage.ru_utime + usage.ru_stime) / switches * 1e9, 'recorder': 0, 'bytes': 0}
    if recorder:
        recorder.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(recorder.pid, 0)
        recorder.returncode = os.waitstatus_to_exitcode(status)
        result['recorder'] = (usage.ru_utime + usage.ru_stime) / switches * 1e9
        result['bytes'] = os.path.getsize(path) / switches
        os.unlink(path)
    return result


def switching(args, spoor, perf):
    path = os.path.join(args.directory, 'switches')
    ours = [spoor, 'record', '-a', '-e', 'dummy', '-o', path]
    commands = {'nothing': None, '--off-cpu': [*ours, '--off-cpu'],
                '--off-cpu=freq=1000': [*ours, '--fp', '--off-cpu=freq=1000'],
                'perf, the same events': [perf, 'record', '-a', '-g', '-e', 'context-switches', '-c', '1',
                                          '--switch-events', '-o', path]}
    runs = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            runs[name].append(storm_beside(args, command, path))
    table = {name: {key: statistics.median(r[key] for r in list_) for key in list_[0]} for name, list_ in runs.items()}
    print(f'\nswitches of threads: CPU ns each, medians of {args.rounds} rounds in turns')
    print(f'{"":<24}{"load":>7}{"recorder":>10}{"bytes":>7}   of a CPU at {STORM} a second')
    for name, m in table.items():
        m['storm'] = (m['load'] + m['recorder'] - table['nothing']['load']) * STORM / 1e9
        print(f'{name:<24}{m["load"]:>7.0f}{m["recorder"]:>10.0f}{m["bytes"]:>7.1f}{100 * m["storm"]:>12.1f} %')
    return table


def flights(args):
    runs = {name: [] for name in FLIGHTS}
    for _ in range(args.rounds):
        for name in FLIGHTS:
            runs[name].append(json.loads(output([sys.executable, os.path.join(HERE, 'flight.py'), args.build, str(args.seconds), name])))
    table = {name: {key: statistics.median(r[key] for r in list_) for key in list_[0]} for name, list_ in runs.items()}
    print(f'\nflight recorder beside spoord: medians of {args.rounds} rounds in turns')
    print(f'{"":<16}{"spoord":>9}{"load, CPU s":>13}{"more":>8}   a dump')
    for name, m in table.items():
        more = 100 * (m['load'] / table['none']['load'] - 1)
        dump = f'{1000 * m["dump_s"]:.0f} ms, {m["samples"]:.0f} samples, {m["bytes"] / 1e6:.2f} MB' if 'dump_s' in m else '-'
        print(f'{name:<16}{100 * m["daemon"]:>7.2f} %{m["load"]:>13.2f}{more:>6.2f} %   {dump}')
    return table


def debug_file(path):
    notes = output(['readelf', '-n', path]) if os.path.exists(path) else ''
    build_id = notes.partition('Build ID: ')[2].split('\n')[0]
    found = f'/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug'
    return found if build_id and os.path.exists(found) else None


def text_addresses(path, how, count):
    text = next(x for x in output(['readelf', '-SW', path]).split('\n') if '] .text ' in x).partition('.text')[2].split()
    start, size, pick = int(text[1], 16), int(text[3], 16), random.Random(how)
    if how != 'profile':
        return [start + pick.randrange(size) for _ in range(count)]
    places = [start + pick.randrange(size - 8192) for _ in range(120)]
    return [pick.choice(places) + pick.randrange(8192) for _ in range(count)]


def looking_up(args, marks):
    """Names by the symbol tables of an ELF file, in one thread."""
    path = next(p for p in SYMBOLIZED + [sys.executable] if os.path.exists(p))
    command = [os.path.join(args.build, 'tests/bench/lookups'), path, str(LOOKUPS)]
    runs = [json.loads(output(command)) for _ in range(args.rounds)]
    result = {key: statistics.median(r[key] for r in runs) for key in ('loading', 'first', 'again')}
    result['millions_a_second'] = LOOKUPS / result['first'] / 1e6
    marks.append(result['millions_a_second'] >= LOOKUPS_TARGET)
    print(f'\nlooking up: {LOOKUPS} names at random in {path}: loaded in {1000 * result["loading"]:.0f} ms, '
          f'{result["millions_a_second"]:.1f} M/s   >= {LOOKUPS_TARGET} M/s: {verdict(marks[-1])}')
    return result


def symbolizing(args, spoor, marks):
    path = next((p for p in SYMBOLIZED if debug_file(p)), None)
    if path is None or not shutil.which('llvm-symbolizer'):
        print('\nsymbolizing: no openjdk-17-dbg nor libc6-dbg, or no llvm-symbolizer')
        return {}
    packed, path = debug_file(path), os.path.join(args.directory, os.path.basename(path) + '.debug')
    subprocess.run(['objcopy', '--decompress-debug-sections', packed, path], check=True)
    print(f'\nsymbolizing: {packed}, medians of {args.rounds} rounds in turns')
    print(f'{"addresses":<26}' + ''.join(f'{x:>18}' for x in ('spoor', 'llvm-symbolizer', 'addr2line')) + f'{"ratio":>8}   target')
    results = {}
    for how, count, target in SYMBOLIZING:
        asked = os.path.join(args.directory, how)
        with open(asked, 'w') as f:
            f.writelines(f'0x{a:x}\n' for a in text_addresses(path, how, count))
        file = packed if 'packed' in how else path
        m = in_turns({'spoor': [spoor, 'symbolize', '--no-cache', '--obj', file],
                      'llvm-symbolizer': ['llvm-symbolizer', f'--obj={file}'],
                      'addr2line': ['addr2line', '-Cfi', '-e', file]}, args.rounds, asked)
        results[how] = m
        ours, llvm = m['spoor'], m['llvm-symbolizer']
        for what, unit, limit in [('wall', 's', target), ('mib', 'MiB', SYMBOLIZING_MEMORY)]:
            marks.append(ours[what] <= limit * llvm[what])
            print(f'{count if what == "wall" else "":<7}{how if what == "wall" else "":<15}{unit:<4}'
                  + ''.join(f'{x[what]:>18.{2 if what == "wall" else 0}f}' for x in m.values())
                  + f'{ours[what] / llvm[what]:>8.2f}   <= {limit}: {verdict(marks[-1])}')
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build')
    parser.add_argument('--before', metavar='SPOOR', help='an earlier spoor, whose recording costs are measured as well')
    parser.add_argument('--rounds', type=int, default=3, help='of each recorder and load (3)')
    parser.add_argument('--seconds', type=int, default=5, help='of each recording whose cost is measured (5)')
    parser.add_argument('--stored-seconds', type=int, default=12, help='of each whose size is looked into (12)')
    parser.add_argument('--reading-seconds', type=int, default=20, help='of the recording that is read (20)')
    parser.add_argument('--only', choices=['recording', 'reading', 'pages', 'unwind', 'many', 'exports', 'symbolize', 'switches', 'flight', 'stacks'], help='one side alone')
    args = parser.parse_args()
    spoor = os.path.join(args.build, 'spoor')
    perf, perf_version = perf_program()
    commands = recorders(spoor, perf, args.before)
    marks = []

    print(f'{perf_version}{" with --buildid-mmap" if "--buildid-mmap" in commands["perf"] else ""}; '
          f'Linux {os.uname().release}; {os.cpu_count()} CPUs')
    with (tempfile.TemporaryDirectory(prefix='bench.', dir=args.build) as args.directory, kernel_limits(),
          own_cache(args.directory)):
        table, rows, read = {}, {}, {}
        if args.only in (None, 'recording'):
            table = costs(args, commands, spoor)
            ratios(table, marks)
            rows = stored(args, spoor, marks)
        if args.only in (None, 'reading'):
            read = reading(args, spoor, perf, marks)
            read['archive'] = archive(args, spoor, marks)
        paged = pages(args, spoor, perf, marks) if args.only in (None, 'pages') else {}
        unwound = unwinding(args, spoor, perf, marks) if args.only in (None, 'unwind') else {}
        crowd = many(args, spoor, marks) if args.only in (None, 'many') else {}
        exported = exports(args, spoor, marks) if args.only in (None, 'exports') else {}
        symbolized = symbolizing(args, spoor, marks) if args.only in (None, 'symbolize') else {}
        looked_up = looking_up(args, marks) if args.only in (None, 'symbolize') else {}
        switched = switching(args, spoor, perf) if args.only in (None, 'switches') else {}
        flown = flights(args) if args.only in (None, 'flight') else {}
        walked = stacks(args, spoor, perf, marks) if args.only in (None, 'stacks') else []
    print(f'\n{sum(marks)} of {len(marks)} targets met')
    with open(os.path.join(args.build, 'bench.json'), 'w') as f:
        json.dump({'cost': [{'load': load, 'hz': hz, **m} for (load, hz), m in table.items()], 'stored': rows,
                   'reading': read, 'pages': paged, 'unwinding': unwound, 'many': crowd, 'exports': exported, 'symbolizing': symbolized,
                   'looking_up': looked_up, 'switches': switched, 'flight': flown, 'stacks': walked}, f, indent=1)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
