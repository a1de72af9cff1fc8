// The tree of the session: each entry on the page, what it goes on from, and what goes on from it.
// One path through it is shown, and the rest is kept outside of the page.

const root = {number: 0, kids: [], last: 0};
const entries = new Map([[0, root]]);
for (const node of document.querySelectorAll('[data-p]')) {
  const top = node.parentElement.closest('article');
  entries.set(+node.id.slice(1), {number: +node.id.slice(1), node, isTop: !top, kids: []});
}
for (const e of entries.values()) {
  if (e === root) continue;
  e.up = entries.get(+e.node.getAttribute('data-p')) || root;
  e.up.kids.push(e);
}
for (const e of entries.values()) e.kids.sort((a, b) => a.number - b.number);
for (const e of [...entries.values()].sort((a, b) => b.number - a.number)) {
  e.last = Math.max(e.last || 0, e.number);
  if (e.up) e.up.last = Math.max(e.up.last || 0, e.last);
}
const entryOf = node => { const n = node && node.closest('[data-p]'); return n ? entries.get(+n.id.slice(1)) : undefined; };
const topOf = e => e.isTop ? e : entryOf(e.node.parentElement);

// pathTo is the way from the first entry to one.
function pathTo(e) {
  const way = [];
  for (; e && e !== root; e = e.up) way.push(e);
  return way.reverse();
}
// path is what is shown.
let path = pathTo(entries.get(+main.dataset.leaf));
const isShown = e => path[e.at] === e;
const number = () => path.forEach((e, i) => { e.at = i; });
number();

// What is on other branches is kept outside of the page.
const store = document.createDocumentFragment();
const others = document.getElementById('others');
if (others) {
  for (const n of [...others.querySelectorAll('[data-p]')]) if (entryOf(n).isTop) store.append(n);
  others.remove();
}

// show shows the branch that ends with an entry.
function show(leaf) {
  const next = pathTo(leaf);
  let same = 0;
  while (same < path.length && same < next.length && path[same] === next[same]) same++;
  for (const e of path.slice(same)) if (e.isTop) store.append(e.node); else e.node.hidden = true;
  for (const e of next.slice(same)) if (e.isTop) main.append(e.node); else e.node.hidden = false;
  path = next;
  number();
  drawForks();
  drawChart();
  markPath();
}

const forks = [];
function drawForks() {
  for (const f of forks.splice(0)) f.remove();
  for (const e of path) {
    const kids = e.up.kids;
    if (kids.length < 2) continue;
    const i = kids.indexOf(e);
    const step = (by, name) => {
      const b = el('button', {type: 'button', textContent: by < 0 ? '‹' : '›', disabled: !kids[i + by]});
      b.setAttribute('aria-label', name + ' branch');
      b.addEventListener('click', () => go(kids[i + by]));
      return b;
    };
    const bar = el('div', {className: 'fork'}, step(-1, 'previous'), `branch ${i + 1} of ${kids.length}`, step(1, 'next'));
    e.node.before(bar);
    forks.push(bar);
  }
}
