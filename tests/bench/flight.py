# SPDX-License-Identifier: GPL-2.0-or-later
"""flight.py BUILD SECONDS FLIGHT: what spoord costs with that flight recorder ("none", "10s @ 999"), as JSON.

daemon: CPU seconds of spoord a second of the load. load: CPU seconds of a fixed piece of work on each CPU, all that interrupts
add to it included. dump_s: until spoorctl dump has its answer; samples, bytes: of that.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

WORK = 'import sys\nfor _ in range({}):\n    sum(x * x % 7 for x in range(20000))\n'
ROUND_S = 0.0012  # of one, about


def wait_for(command):
    for _ in range(400):
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return
        time.sleep(0.05)
    sys.exit(f'flight.py: {command} fails')


def work(seconds):
    """Of fixed work on each CPU: its CPU seconds."""
    program = WORK.format(int(seconds / ROUND_S))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for p in [subprocess.Popen(['taskset', '-c', str(cpu), sys.executable, '-c', program]) for cpu in sorted(os.sched_getaffinity(0))]:
        p.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    build, seconds, flight = os.path.abspath(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory(prefix='flight.') as directory:
        socket, conf = os.path.join(directory, 'socket'), os.path.join(directory, 'spoord.conf')
        os.mkdir(os.path.join(directory, 'archive'))
        with open(conf, 'w') as f:
            f.write(f'archive_directory = {directory}/archive\ncontrol_socket = {socket}\ncontrol_group = daemon\n'
                    f'max_use = 256M\nkeep_free = 0\nflight_recorder = {flight}\n')
        ctl = [os.path.join(build, 'spoorctl'), '--socket', socket]
        daemon = subprocess.Popen([os.path.join(build, 'spoord'), '-c', conf, '--foreground'], stderr=subprocess.DEVNULL)
        wait_for([*ctl, 'dump'] if flight != 'none' else [*ctl, 'sync'])
        result = {'load': work(seconds)}
        if flight != 'none':
            began = time.monotonic()
            dump = json.loads(subprocess.run([*ctl, 'dump', '--json'], stdout=subprocess.PIPE, check=True).stdout)
            result |= {'dump_s': time.monotonic() - began, 'samples': dump['samples'],
                       'bytes': os.path.getsize(os.path.join(directory, 'archive', dump['file']))}
        daemon.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(daemon.pid, 0)
        daemon.returncode = os.waitstatus_to_exitcode(status)
        result['daemon'] = (usage.ru_utime + usage.ru_stime) / seconds
    print(json.dumps(result))


if __name__ == '__main__':
    main()
