#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""symbolize_oracle.py SPOOR FILE ORACLE[,ORACLE...] [COUNT]: compares `spoor symbolize` with other
symbolizers (llvm, gnu) at the boundaries of all functions and at COUNT random addresses. llvm@TWIN asks
about TWIN instead, a file with the same code. With BOUNDS=N in the environment so many of the boundaries
are taken at most.

An address agrees when one oracle has the same innermost function, and the same file (base name)
and line of every frame. Prints each disagreement; exit 1 when there is one, or when fewer than
100 of the addresses have a line: then nothing was tested. The figures are the last line."""
import os
import random
import re
import subprocess
import sys

COMMANDS = {
    'llvm': ['llvm-symbolizer', '--no-demangle', '--functions=linkage', '--inlines', '--output-style=LLVM'],
    'gnu': ['addr2line', '-a', '-f', '-i'],
}


def run(command, text=''):
    return subprocess.run(command, input=text, capture_output=True, text=True, errors='replace', check=False)


def plain_name(name):
    """Suffixes are in the symbol alone; a constructor's or destructor's variants (C1, C2; D1, D2) are
    one function with two names."""
    name = re.sub(r'\.(constprop|part|isra|cold|lto_priv|llvm|localalias|\d+$).*', '', name)
    return re.sub(r'([CD]I?)[0-5](?=[EIS])', r'\1', re.sub(r'@@?[A-Z].*', '', name))


def place(text):
    """FILE:LINE[:COLUMN] and what GNU adds: the base name and the line, 0 when it is not known."""
    text = re.sub(r' \((discriminator .*|inlined by.*)\)$', '', text)
    match = re.match(r'(.*?):(\d+|\?)(?::\d+)?$', text)
    name, line = match.groups() if match else (text, '0')
    return os.path.basename(name), 0 if line == '?' else int(line)


def frame(name, where):
    """A file without a line is the one that the symbol table names, of a whole object file."""
    file, line = place(where)
    if line == 0:
        file = ''
    return ('' if name == '??' else plain_name(name), '' if file.startswith('?') else file, line)


def ask_ours(spoor, path, addresses):
    done = run([spoor, 'symbolize', '--no-demangle', '--no-cache', '--obj', path], ''.join(f'{a:x}\n' for a in addresses))
    if done.returncode or done.stderr:
        sys.exit(f'spoor symbolize: exit {done.returncode}: {done.stderr}')
    blocks = done.stdout.split('\n\n')[:-1]
    return [[frame(*line.split('\t')) for line in block.split('\n')] for block in blocks]


def ask_llvm(path, addresses):
    done = run([*COMMANDS['llvm'], f'--obj={path}'], ''.join(f'0x{a:x}\n' for a in addresses))
    for block in done.stdout.split('\n\n')[:-1]:
        lines = block.strip('\n').split('\n')
        yield [frame(*pair) for pair in zip(lines[::2], lines[1::2])]


def ask_gnu(path, addresses):
    done = run([*COMMANDS['gnu'], '-e', path], ''.join(f'0x{a:x}\n' for a in addresses))
    for block in re.split(r'^0x[0-9a-f]{8,}\n', done.stdout, flags=re.M)[1:]:
        lines = block.strip('\n').split('\n')
        frames = [frame(*pair) for pair in zip(lines[::2], lines[1::2])]
        # GNU's has the symbol's name for an inlined function without a linker's name.
        if len(frames) > 1 and frames[0][0] == frames[-1][0]:
            frames[0] = ('', *frames[0][1:])
        yield frames


ORACLES = {'llvm': ask_llvm, 'gnu': ask_gnu}


def addresses_of(path, count):
    sections = re.findall(r'\] (\S+)\s+PROGBITS\s+([0-9a-f]+) \S+ ([0-9a-f]+) \S+\s+A?X', run(['readelf', '-SW', path]).stdout)
    text = [(int(start, 16), int(size, 16)) for name, start, size in sections if not name.startswith('.plt')]
    bounds = set()
    for kind in ([], ['-D']):
        for line in run(['nm', '-S', '--defined-only', *kind, path]).stdout.split('\n'):
            match = re.match(r'([0-9a-f]+) ([0-9a-f]+) [tTwWi] ', line)
            if match:
                start, size = (int(x, 16) for x in match.groups())
                bounds.update((start - 1, start, start + 1, start + size - 1, start + size, start + size + 1))
    inside = sorted(a for a in bounds if any(start <= a < start + size for start, size in text))
    pick = random.Random(path.count('/') + len(inside))
    if 0 < int(os.environ.get('BOUNDS') or 0) < len(inside):
        inside = pick.sample(inside, int(os.environ['BOUNDS']))
    for _ in range(count):
        start, size = pick.choices(text, [size for _, size in text])[0]
        inside.append(start + pick.randrange(size))
    return inside


def code_of(path):
    """The code, and where it is."""
    start = [line.split()[3:5] for line in re.sub(r'\[ *(\d+)\]', r'\1', run(['readelf', '-SW', path]).stdout).split('\n')
             if ' .text ' in line]
    return start, subprocess.run(['objcopy', '-O', 'binary', '--only-section=.text', path, '/dev/stdout'],
                                 capture_output=True, check=True).stdout


def symbols_of(path):
    """The names of each address, there and in the file with its symbols; -> which names go together."""
    build_id = re.search(r'Build ID: ([0-9a-f]+)', run(['readelf', '-nW', path]).stdout)
    files = [path] + ([f'/usr/lib/debug/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug'] if build_id else [])
    places = {}
    for file, kind in [(f, k) for f in files if os.path.exists(f) for k in ([], ['-D'])]:
        for line in run(['nm', '--defined-only', *kind, file]).stdout.split('\n'):
            address, _, name = line.partition(' ')
            places.setdefault(plain_name(name[2:]), set()).add(address)
    return places


def same(ours, theirs, symbols):
    if not any(file for _, file, _ in ours + theirs):
        return True  # names of symbols alone are tested elsewhere
    if [f[1:] for f in ours] != [f[1:] for f in theirs]:
        return False
    a, b = ours[0][0], theirs[0][0]
    # Where DWARF has no linker's name some give the symbol's and others the source's, we with its scopes.
    if not a or not b or a == b or a.endswith('::' + b) or a.startswith('_Z') != b.startswith('_Z'):
        return True
    return bool(symbols.get(a, set()) & symbols.get(b, set()))  # two names of one place


def main():
    spoor, path, names = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    oracles = names.split(',')
    twins = {o: o.partition('@')[2] for o in oracles}
    if any(twin and code_of(twin) != code_of(path) for twin in twins.values()):
        sys.exit(f'{names}: another program than {path}')
    addresses = addresses_of(path, count)
    ours = ask_ours(spoor, path, addresses)
    theirs = {o: list(ORACLES[o.partition('@')[0]](twins[o] or path, addresses)) for o in oracles}
    for name, answers in [('spoor', ours), *theirs.items()]:
        if len(answers) != len(addresses):
            sys.exit(f'{name} answered {len(answers)} of {len(addresses)} addresses')
    known = sum(bool(o[0][1]) for o in ours)
    deep = sum(len(o) > 1 for o in ours)
    symbols = symbols_of(path)
    bad = [i for i, o in enumerate(ours) if not any(same(o, theirs[t][i], symbols) for t in oracles)]
    for i in bad[:5]:
        print(f'{addresses[i]:#x}: spoor {ours[i]}'[:260])
        for oracle in oracles:
            print(f'      {oracle} {theirs[oracle][i]}'[:260])
    print(f'{len(addresses)} addresses, {known} with a line, {deep} inlined, {len(bad)} disagree')
    sys.exit(bool(bad) or known < 100)


if __name__ == '__main__':
    main()
