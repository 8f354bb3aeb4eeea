# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorder cost, side by side: spoor record, perf record, perf record -z.

Each round runs every recorder once over the same load, one after the other, beginning with another
one each time. CPU time is user + system of the recorder process and its threads (wait4), without the
load and without any child: perf gets no command and is ended by SIGINT. perf is run with
--buildid-mmap, so that its files name their objects as spoor's do and it need not read its own
output again at the end. Ratios are of medians; below 1 spoor does better.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

# depth of the stacks, number of different ones
LOADS = {'repetitive': (16, 1), 'mixed': (20, 1000), 'hostile': (36, 1000000)}
SYSCTLS = {'perf_event_max_sample_rate': 40000, 'perf_cpu_time_max_percent': 0}


def sysctl_path(name):
    return '/proc/sys/kernel/' + name


class Sysctls:
    """Rates that the kernel would refuse or lower while we measure; put back afterwards."""

    def __enter__(self):
        self.saved = {}
        for name, value in SYSCTLS.items():
            try:
                with open(sysctl_path(name)) as f:
                    old = int(f.read())
                if name == 'perf_event_max_sample_rate' and old >= value:
                    continue
                self.write(name, value)
                self.saved[name] = old
            except OSError as e:
                print(f'bench: kernel.{name} stays as it is: {e.strerror}', file=sys.stderr)
        return self

    def __exit__(self, *unused):
        for name, value in reversed(self.saved.items()):
            try:
                self.write(name, value)
            except OSError as e:
                print(f'bench: kernel.{name} is not back at {value}: {e.strerror}', file=sys.stderr)

    @staticmethod
    def write(name, value):
        # The maximum rate cannot be written while the time limit is 0 or 100.
        limit = sysctl_path('perf_cpu_time_max_percent')
        if name == 'perf_event_max_sample_rate':
            with open(limit) as f:
                percent = f.read()
            if int(percent) in (0, 100):
                with open(limit, 'w') as f:
                    f.write('25')
            with open(sysctl_path(name), 'w') as f:
                f.write(str(value))
            if int(percent) in (0, 100):
                with open(limit, 'w') as f:
                    f.write(percent)
            return
        with open(sysctl_path(name), 'w') as f:
            f.write(str(value))


def output(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, text=True).stdout


def perf_counts(perf, path):
    stats = output([perf, 'report', '--stats', '-i', path])
    samples = re.search(r'SAMPLE events:\s+(\d+)', stats)
    head = output([perf, 'report', '--stdio', '--no-children', '-g', 'none', '-s', 'comm', '-i', path])
    lost = re.search(r'Total Lost Samples: (\d+)', head)
    return int(samples.group(1)) if samples else 0, int(lost.group(1)) if lost else 0


def spoor_counts(spoor, path):
    info = json.loads(output([spoor, 'info', '--json', '-i', path]))
    lost = info['lost']
    return info['samples'], sum(lost.values()) if isinstance(lost, dict) else lost


class Recorder:
    def __init__(self, name, command, counts, ends_itself):
        self.name, self.command, self.counts, self.ends_itself = name, command, counts, ends_itself

    def run(self, hz, seconds, path):
        command = [a.format(hz=hz, seconds=seconds, out=path) for a in self.command]
        with open(path + '.log', 'wb') as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            if not self.ends_itself:
                time.sleep(seconds)
                child.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, -signal.SIGINT, 130):
            with open(path + '.log') as log:
                sys.exit(f'bench: {" ".join(command)}: exit {child.returncode}\n{log.read()}')
        samples, lost = self.counts(path)
        if samples == 0:
            sys.exit(f'bench: {" ".join(command)}: no samples')
        size = os.path.getsize(path)
        cpu = usage.ru_utime + usage.ru_stime
        result = {'samples': samples, 'lost': lost, 'user_s': usage.ru_utime, 'sys_s': usage.ru_stime, 'cpu_s': cpu,
                  'file_bytes': size, 'bytes_per_sample': size / samples, 'cpu_us_per_sample': cpu * 1e6 / samples,
                  'rss_kib': usage.ru_maxrss}
        os.unlink(path)
        os.unlink(path + '.log')
        return result


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def find_perf():
    """Ubuntu's /usr/bin/perf is a wrapper that knows the running kernel only."""
    candidates = [os.environ.get('PERF', 'perf')]
    base = '/usr/lib/linux-tools'
    if os.path.isdir(base):
        candidates += [os.path.join(base, d, 'perf') for d in sorted(os.listdir(base), reverse=True)]
    for candidate in candidates:
        try:
            return candidate, output([candidate, '--version']).strip()
        except (OSError, subprocess.CalledProcessError):
            pass
    sys.exit('bench: no perf that works; make deps installs it')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build')
    parser.add_argument('--seconds', type=int, default=10, help='of each recording (10)')
    parser.add_argument('--rounds', type=int, default=3, help='medians are of so many (3)')
    parser.add_argument('--hz', type=int, action='append', help='999 and 19999; may be repeated')
    parser.add_argument('--load', choices=LOADS, action='append',
                        help='mixed at every rate, repetitive and hostile at the highest; may be repeated')
    parser.add_argument('--only', action='append', metavar='RECORDER', help='spoor, perf, perf -z; may be repeated')
    args = parser.parse_args()

    rates = args.hz or [999, 19999]
    work = [(load, hz) for load in args.load or ['mixed'] for hz in rates]
    if not args.load:
        work += [(load, max(rates)) for load in ('repetitive', 'hostile')]
    spoor = os.path.join(args.build, 'spoor')
    perf, perf_version = find_perf()
    same = ['-a', '-e', 'cpu-clock', '-F', '{hz}', '-o', '{out}']
    buildid = ['--buildid-mmap'] if 'buildid-mmap' in subprocess.run(
        [perf, 'record', '-h'], capture_output=True, text=True).stderr else []
    recorders = [
        Recorder('spoor', [spoor, 'record', *same, '--call-graph', 'fp', '--duration', '{seconds}s'],
                 lambda path: spoor_counts(spoor, path), True),
        Recorder('perf', [perf, 'record', *same, '-g', *buildid], lambda path: perf_counts(perf, path), False),
        Recorder('perf -z', [perf, 'record', *same, '-g', '-z', *buildid], lambda path: perf_counts(perf, path), False),
    ]
    if args.only:
        recorders = [r for r in recorders if r.name in args.only]
    if any(r.name == 'spoor' for r in recorders) and not os.access(spoor, os.X_OK):
        sys.exit(f'bench: {spoor} is not there; run make')

    print(f'{perf_version}{" with --buildid-mmap" if buildid else ""}; Linux {os.uname().release}; '
          f'{os.cpu_count()} CPUs, all busy; {args.seconds} s a run, medians of {args.rounds}')
    print(f'{"load":<11}{"Hz":>6} {"recorder":<9}{"samples":>9}{"lost":>7}{"CPU s":>8}{"(user":>8}{"sys)":>7}'
          f'{"us/sample":>11}{"file bytes":>12}{"B/sample":>10}{"RSS MiB":>9}')
    table = []
    ratios = []
    with Sysctls():
        for load, hz in work:
            depth, stacks = LOADS[load]
            runs = {r.name: [] for r in recorders}
            child = subprocess.Popen([os.path.join(args.build, 'bench/load'), '0', str(depth), str(stacks)],
                                     stdin=subprocess.DEVNULL)
            try:
                time.sleep(0.5)
                for n in range(args.rounds):
                    k = n % len(recorders)
                    for r in recorders[k:] + recorders[:k]:
                        path = os.path.join(args.build, 'bench', r.name.replace(' ', '') + '.out')
                        runs[r.name].append(r.run(hz, args.seconds, path))
            finally:
                child.kill()
                child.wait()
            got = {name: medians(list_) for name, list_ in runs.items()}
            for name, m in got.items():
                table.append({'load': load, 'hz': hz, 'recorder': name, **m})
                print(f'{load:<11}{hz:>6} {name:<9}{m["samples"]:>9.0f}{m["lost"]:>7.0f}{m["cpu_s"]:>8.3f}{m["user_s"]:>8.3f}'
                      f'{m["sys_s"]:>7.3f}{m["cpu_us_per_sample"]:>11.3f}{m["file_bytes"]:>12.0f}'
                      f'{m["bytes_per_sample"]:>10.2f}{m["rss_kib"] / 1024:>9.1f}', flush=True)
            for other in ('perf', 'perf -z'):
                if 'spoor' in got and other in got:
                    ratios.append({'load': load, 'hz': hz, 'of': f'spoor / {other}',
                                   **{key: got['spoor'][key] / got[other][key] if got[other][key] else 0
                                      for key in ('samples', 'cpu_us_per_sample', 'bytes_per_sample', 'rss_kib')}})
    if ratios:
        print(f'\n{"ratios":<11}{"Hz":>6} {"":<17}{"samples":>9}{"CPU/sample":>12}{"bytes/sample":>14}{"RSS":>7}')
        for r in ratios:
            print(f'{r["load"]:<11}{r["hz"]:>6} {r["of"]:<17}{r["samples"]:>9.3f}{r["cpu_us_per_sample"]:>12.2f}'
                  f'{r["bytes_per_sample"]:>14.2f}{r["rss_kib"]:>7.2f}')
    path = os.path.join(args.build, 'bench/record.json')
    with open(path, 'w') as f:
        json.dump({'runs': table, 'ratios': ratios}, f, indent=1)
    print(f'\nthe same as JSON: {path}')


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
