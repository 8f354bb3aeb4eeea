# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes and CPU per sample of what is stored: columns against zstd -1 of the same raw records.

Records three loads with spoor, without anything else of the host: repetitive (dd and yes), mixed
(python and xz), hostile (gcc, g++, python, tar, one after another). build/tests/bench/columns then
cuts their records into blocks anew and encodes them in both ways, so that both sides have the same
records; every block is decoded and compared. perf -z packs each read of a ring, at most 64 KiB, into
a frame of its own and so is above the figure for 256 KiB.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

LOADS = {
    'repetitive': ['exec dd if=/dev/zero of=/dev/null bs=4k', 'exec yes >/dev/null'],
    'mixed': ['''exec python3 -c "
import json
d = {str(i): [i] * 3 for i in range(20000)}
while True:
    json.loads(json.dumps(d))
    sorted(d.values())
"''', 'while cat "$(command -v python3)"; do :; done | xz -6 -c >/dev/null'],
    'hostile': ['''while :; do
        echo 'int main(void) { return 0; }' | gcc -O1 -x c -c -o c.o -
        python3 -c 'import json, re, email'
        tar cf - /usr/include/linux 2>/dev/null | gzip >/dev/null
        printf '#include <iostream>\\n#include <map>\\nint main() { std::map<int, int> m; m[1] = 2; }\\n' |
            g++ -O1 -x c++ -c -o cc.o -
        find /usr/share/doc >/dev/null
    done''', '''while :; do
        printf '#include <regex>\\nint main() { std::regex r("a+"); }\\n' | g++ -O1 -x c++ -c -o r.o -
        for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; ls /usr/lib >/dev/null; done
        python3 -c 'import argparse, unittest'
    done'''],
}
# bytes per sample of samples alone: what columns have to keep
TARGETS = {'repetitive': 3, 'mixed': 7.5, 'hostile': 11.5}
RATIO = 0.55


def record(spoor, load, hz, seconds, directory):
    path = os.path.join(directory, load + '.spoor')
    script = ' & '.join(f'(cd "$(mktemp -d -p "$1")" && {part})' for part in LOADS[load])
    command = [spoor, 'record', '-e', 'cpu-clock', '-F', str(hz), '--call-graph', 'fp', '-o', path, '--',
               'timeout', f'{seconds}s', 'bash', '-c', script + ' & wait', 'load', directory]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not os.path.exists(path):
        sys.exit(f'bench: {" ".join(command)}: exit {done.returncode}\n{done.stderr}')
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build')
    parser.add_argument('--seconds', type=int, default=15, help='of each recording (15)')
    parser.add_argument('--hz', type=int, default=4999, help='(4999)')
    parser.add_argument('--load', choices=LOADS, action='append', help='all of them; may be repeated')
    parser.add_argument('--rounds', type=int, default=5, help='that times are the mean of (5)')
    args = parser.parse_args()

    rows = []
    print(f'{"load":<11}{"of":<13}{"samples":>9}{"raw B":>8}{"columns B":>11}{"zstd -1 B":>11}{"ratio":>7}'
          f'{"encode ns":>11}{"pack ns":>9}{"zstd -1 ns":>12}{"decode ns":>11}  target')
    with tempfile.TemporaryDirectory() as directory:
        for load in args.load or LOADS:
            path = record(os.path.join(args.build, 'spoor'), load, args.hz, args.seconds, directory)
            lines = subprocess.run([os.path.join(args.build, 'tests/bench/columns'), '-n', str(args.rounds), path],
                                   stdout=subprocess.PIPE, check=True, text=True).stdout
            for line in lines.splitlines():
                r = json.loads(line)
                r['recording'] = load
                rows.append(r)
                what = 'all records' if r['side_band'] else 'samples'
                verdict = ''
                if not r['side_band']:
                    kept = r['packed'] <= TARGETS[load] and r['ratio'] <= RATIO
                    verdict = f'{TARGETS[load]} B, {RATIO}: {"kept" if kept else "NOT KEPT"}'
                print(f'{load:<11}{what:<13}{r["samples"]:>9}{r["raw"]:>8.1f}{r["packed"]:>11.2f}{r["zstd_256k"]:>11.2f}'
                      f'{r["ratio"]:>7.3f}{r["encode_ns"]:>11}{r["pack_ns"]:>9}{r["zstd_ns"]:>12}{r["decode_ns"]:>11}'
                      f'  {verdict}', flush=True)
    os.makedirs(os.path.join(args.build, 'bench'), exist_ok=True)
    path = os.path.join(args.build, 'bench/columns.json')
    with open(path, 'w') as f:
        json.dump(rows, f, indent=1)
    print(f'the same as JSON: {path}')


if __name__ == '__main__':
    main()
