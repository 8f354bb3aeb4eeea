# SPDX-License-Identifier: GPL-2.0-or-later
"""flame_page.py PAGE STACKS: how long a browser takes to draw a flame graph of so many distinct stacks.

PAGE is any page of spoor flamegraph: its data is replaced by made-up stacks of 10 to 60 frames. As JSON: megabytes and
nodes of the page; s from opening it until it is drawn, and of that ms in the page's own code; ms of the slowest frame
while a box is zoomed to, of the first picture from the other end, and of a search; boxes that are drawn.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../oracles'))
from page_driver import Page  # noqa: E402

FUNCTIONS = 20000


def made_up(stacks):
    random.seed(7)
    texts = [None, 'command', '/usr/bin/program', 'cpu-clock']
    texts += [f'function_{i}_of_a_program(int, char const*)' for i in range(FUNCTIONS)]
    kids, frames, parents, ends = [{}], [], [], []
    for _ in range(stacks):
        at, depth = 0, random.randint(10, 60)
        for level in range(depth):
            # Few ways from the outermost frames on, and many to the functions that are sampled.
            frame = (int(random.paretovariate(0.6)) % (4 + (level * 40 if level < 20 else 800)) + level * 300) % FUNCTIONS
            if level == depth - 1:
                frame = random.randrange(FUNCTIONS)
            if frame not in kids[at]:
                kids[at][frame] = len(kids)
                parents.append(len(kids) - at)
                frames.append(frame)
                kids.append({})
            at = kids[at][frame]
        ends.append(at)
    ends.sort()
    weights = [random.randint(1, 9) for _ in ends]
    return {
        'title': f'{stacks} stacks', 'view': 'flame', 'baseline': None, 'facts': [], 'filters': [], 'lost': 0, 'rates': [],
        'texts': texts, 'events': [{'name': 'cpu-clock', 'clock': 1}],
        'kinds': ['kernel', 'inlined', 'jit', 'unknown', 'user'],
        'frames': {'name': [i + 4 for i in range(FUNCTIONS)], 'object': [2] * FUNCTIONS, 'file': [0] * FUNCTIONS,
                   'kind': [i % 5 for i in range(FUNCTIONS)]},
        'nodes': {'parent': parents, 'frame': frames}, 'keys': ['comm'],
        'whos': {'side': [0], 'event': [0], 'comm': [1], 'cgroup': [0], 'unit': [0], 'pid': [1], 'tid': [1], 'cpu': [0]},
        'period_unit': 1000000,
        'rows': {'node': [b - a for a, b in zip([0] + ends, ends)], 'who': [0] * stacks, 'samples': weights, 'period': weights},
    }


def main():
    path, stacks = sys.argv[1], int(sys.argv[2])
    with open(path, encoding='utf-8') as f:
        page = f.read()
    begin = page.index('id="data">') + len('id="data">')
    data = made_up(stacks)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(page[:begin] + json.dumps(data, separators=(',', ':')) + page[page.index('</script>', begin):])
    page = Page(path)
    page.settled('window.flame && flame.boxes().length > 0', 60)
    opened = page.run('return [performance.now(), performance.timing.loadEventEnd - performance.timing.navigationStart,'
                      'flame.times.first, flame.boxes().length]')
    box = page.run('return flame.boxes().filter(b => b.depth === 5).sort((a, b) => b.width - a.width)[0]')
    page.mouse('canvas', box['x'] + box['width'] / 2, box['y'] + 8)
    page.settled("flame.state().zoom !== ''")
    page.settled('performance.now() > (window.until = window.until || performance.now() + 1000)')
    zoom = page.run('return [flame.times.frame, flame.boxes().length]')
    search = page.run("const t = performance.now(), e = document.getElementById('search'); e.value = 'function_1';"
                      "e.dispatchEvent(new Event('input')); return performance.now() - t")
    page.keys('0')
    back = page.run("const t = performance.now(), e = document.getElementById('view'); e.value = 'callers';"
                    "e.dispatchEvent(new Event('change')); return t")
    page.settled("flame.state().view === 'callers' && flame.settled()")
    back = page.run('return performance.now()') - back
    print(json.dumps({'mb': os.path.getsize(path) / 1e6, 'nodes': len(data['nodes']['frame']), 'drawn_s': opened[1] / 1000,
                      'own_ms': opened[2], 'zoom_ms': zoom[0], 'boxes': zoom[1], 'search_ms': search, 'callers_ms': back}))
    page.close()


main()
