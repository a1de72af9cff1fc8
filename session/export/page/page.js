// The tools of the page. Everything they know is in its elements; texts of the session get
// into elements as text only (textContent, append), never as markup.
'use strict';
(() => {

const main = document.getElementById('branch');
const body = document.body;

// el makes an element with properties and children.
function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (name in e) e[name] = value; else e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}
function doer(what, name, label) {
  const b = el('button', {type: 'button', 'data-do': what, 'data-name': name});
  b.setAttribute('aria-label', label || name);
  return b;
}

// ---- the tree: each entry on the page, what it goes on from, and what goes on from it

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

// ---- going to an entry

let current;
function setCurrent(e) {
  if (current) current.node.classList.remove('current');
  current = e;
  if (!e) return;
  e.node.classList.add('current');
  markRow(e);
}

// reveal shows the branch of an entry, and opens what it is folded in.
function reveal(e) {
  if (!isShown(e)) show(entries.get(e.last));
  unfold(e.node);
}
function unfold(node) {
  for (let n = node; n && n !== main; n = n.parentElement) {
    if (n.tagName === 'DETAILS') n.open = true;
    n.classList.remove('folded');
  }
}
function go(e) {
  reveal(e);
  const top = topOf(e);
  setCurrent(top);
  top.node.tabIndex = -1;
  top.node.focus({preventScroll: true});
  e.node.scrollIntoView({block: 'start'});
  history.replaceState(null, '', '#m' + e.number);
}
function goToHash() {
  const e = entries.get(+location.hash.slice(2));
  if (location.hash.startsWith('#m') && e && e !== root) go(e);
}
addEventListener('hashchange', goToHash);
// A link to the place where one is already changes no hash.
document.addEventListener('click', event => {
  const a = event.target.closest('a[href^="#m"]');
  if (a && a.getAttribute('href') === location.hash) goToHash();
});

// ---- folding

let folding = 'usual';
function setFolding(how) {
  folding = how;
  body.classList.toggle('outline', how === 'outline');
  const open = how === 'open';
  for (const d of document.querySelectorAll('article details, details.note')) d.open = open;
  for (const d of store.querySelectorAll('article details, details.note')) d.open = open;
  for (const n of main.querySelectorAll('.folded')) n.classList.remove('folded');
  foldButton.textContent = {usual: 'Open all', open: 'Outline', outline: 'Fold'}[how];
  if (current) current.node.scrollIntoView({block: 'nearest'});
}
const nextFolding = () => setFolding({usual: 'open', open: 'outline', outline: 'usual'}[folding]);

// ---- copying

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', {value: text});
    body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  said.textContent = 'copied';
  if (!button) return;
  button.classList.add('done');
  setTimeout(() => button.classList.remove('done'), 1200);
}
// What is copied of a message is its text; of one without, all that it shows.
function textOf(node) {
  const texts = [...node.querySelectorAll(':scope > .text')];
  return (texts.length ? texts : [...node.children].filter(n => n.tagName !== 'H2')).map(n => n.innerText.trim()).join('\n\n');
}
document.addEventListener('click', event => {
  const b = event.target.closest('[data-do]');
  if (!b) return;
  const e = topOf(entryOf(b));
  switch (b.dataset.do) {
    case 'code': copy(b.previousElementSibling.textContent.replace(/^\n/, ''), b); break;
    case 'copy': copy(textOf(e.node), b); break;
    case 'link': copy(location.href.replace(/#.*/, '') + '#m' + e.number, b); break;
    case 'fold': e.node.classList.toggle('folded'); break;
  }
});
// Messages get their buttons when they come into view: a session can have tens of thousands.
const near = new IntersectionObserver(seen => {
  for (const s of seen) if (s.isIntersecting) decorate(s.target);
}, {rootMargin: '400px'});
const decorated = new WeakSet();
function decorate(node) {
  if (decorated.has(node)) return;
  decorated.add(node);
  near.unobserve(node);
  const h = node.querySelector(':scope > h2');
  if (h) h.append(el('span', {className: 'acts'}, doer('copy', 'copy', 'copy the message'), doer('link', 'link', 'copy a link to the message'), doer('fold', 'fold', 'fold the message')));
  for (const pre of node.querySelectorAll('pre')) {
    const box = el('div', {className: 'box'});
    pre.replaceWith(box);
    box.append(pre, doer('code', 'copy', 'copy the block'));
  }
}
(window.requestIdleCallback || setTimeout)(() => { for (const e of entries.values()) if (e.isTop) near.observe(e.node); });

// ---- the chart: tokens and cost of the answers that are shown

const chart = el('figure', {id: 'chart'});
const short = n => n < 1000 ? '' + n : n < 1e5 ? (n / 1e3).toFixed(1) + 'k' : n < 1e6 ? Math.round(n / 1e3) + 'k' : (n / 1e6).toFixed(1) + 'M';
const dollars = n => '$' + n.toFixed(n < 1 ? 3 : 2);
function svg(tag, attrs, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}
// turns are the answers of the path with what they used, several as one where there are too many to be seen.
function turns() {
  const used = path.filter(e => e.node.hasAttribute('data-u')).map(e => {
    const [input, output, cached, written, cost] = e.node.getAttribute('data-u').split(' ').map(Number);
    return {e, input: input + written, output, cached, cost, isAnswer: e.node.tagName === 'ARTICLE'};
  });
  let cost = 0;
  for (const u of used) u.sum = cost += u.cost;
  const all = used.filter(u => u.isAnswer), size = Math.ceil(all.length / 400), out = [];
  for (let i = 0; i < all.length; i += size) {
    const group = all.slice(i, i + size), most = group.reduce((a, b) => b.input + b.cached > a.input + a.cached ? b : a);
    out.push({...most, first: i + 1, last: i + group.length, output: group.reduce((n, u) => n + u.output, 0), sum: group.at(-1).sum});
  }
  return out;
}
function drawChart() {
  const all = turns();
  chart.hidden = all.length < 2;
  if (chart.hidden) return chart.replaceChildren();
  const W = Math.max(300, main.clientWidth), H = 150, mid = 100, left = 38, right = 46, wide = (W - left - right) / all.length;
  const mostRead = Math.max(1, ...all.map(u => u.input + u.cached)), mostOut = Math.max(1, ...all.map(u => u.output)), cost = all.at(-1).sum;
  const up = n => n / mostRead * (mid - 12), down = n => n / mostOut * (H - mid - 14);
  const picture = svg('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'tokens and cost of each answer'});
  const label = (x, y, text, anchor) => picture.append(svg('text', {x, y, 'text-anchor': anchor || 'end'}, text));
  picture.append(svg('path', {class: 'axis', d: `M${left} ${mid}H${W - right}`}));
  all.forEach((u, i) => {
    const x = left + i * wide, w = Math.max(.8, Math.min(wide * .8, 40)), at = x + (wide - w) / 2;
    const bar = (kind, y, h) => h > 0 && picture.append(svg('rect', {class: kind, x: at, y, width: w, height: h}));
    bar('cached', mid - up(u.cached), up(u.cached));
    bar('read', mid - up(u.cached + u.input), up(u.input));
    bar('wrote', mid + 1, down(u.output));
  });
  if (cost > 0) {
    const y = u => mid - u.sum / cost * (mid - 12);
    picture.append(svg('path', {class: 'cost', d: 'M' + all.map((u, i) => `${left + (i + .5) * wide} ${y(u)}`).join('L')}));
    label(W - right + 5, 16, dollars(cost), 'start');
  }
  label(left - 5, 16, short(mostRead));
  label(left - 5, H - 12, short(mostOut));
  all.forEach((u, i) => {
    const about = (u.first === u.last ? `answer ${u.first}` : `answers ${u.first} to ${u.last}`) +
      `: read ${short(u.input + u.cached)} (${short(u.cached)} from the cache), wrote ${short(u.output)}` + (cost > 0 ? `, ${dollars(u.sum)} so far` : '');
    const area = svg('rect', {class: 'all', x: left + i * wide, y: 0, width: wide, height: H}, svg('title', {}, about));
    area.addEventListener('click', () => go(u.e));
    picture.append(area);
  });
  const legend = (kind, text) => el('span', {className: kind, textContent: text});
  chart.replaceChildren(picture, el('figcaption', {}, legend('read', 'tokens read'), legend('cached', 'of them from the cache'), legend('wrote', 'tokens written'),
    ...(cost > 0 ? [legend('cost', 'cost so far')] : [])));
}

let width = innerWidth;
addEventListener('resize', () => { if (width !== innerWidth) drawChart(); width = innerWidth; });

// ---- the tree at the side

const tree = el('nav', {id: 'tree'});
tree.setAttribute('aria-label', 'Tree');
const rows = el('div', {className: 'rows'});
const rowOf = new Map();
// words are the first ones of an entry.
function words(e) {
  const n = e.node, said = n.querySelector(':scope > .text') || n.querySelector('summary') || n.querySelector(':scope > .stop') || n;
  const walk = document.createTreeWalker(said, NodeFilter.SHOW_TEXT);
  let text = '';
  while (text.length < 90 && walk.nextNode()) text = (text + ' ' + walk.currentNode.data.slice(0, 200).replace(/\s+/g, ' ').trim()).trim();
  return text.slice(0, 120);
}
// hasRow leaves out notes, and answers that are only calls unless something ends or forks there.
function hasRow(e) {
  if (!e.isTop || e.node.classList.contains('note')) return e.kids.length === 0 && e.isTop;
  return !e.node.classList.contains('on') || e.kids.length !== 1 || !!e.node.querySelector(':scope > .text');
}
function drawTree() {
  rowOf.clear();
  const all = [], open = root.kids.slice().reverse().map(e => ({e, depth: root.kids.length > 1 ? 1 : 0}));
  while (open.length) {
    const {e, depth} = open.pop();
    if (hasRow(e)) {
      const mark = e.node.querySelector(':scope > h2 > mark');
      const a = el('a', {href: '#m' + e.number, textContent: (mark ? '[' + mark.textContent + '] ' : '') + words(e), title: e.node.className.split(' ')[0]});
      if (depth) a.style.setProperty('--d', Math.min(depth, 12));
      if (e.node.classList.contains('user')) a.className = 'is-user';
      rowOf.set(e, a);
      all.push(a);
    }
    const below = depth + (e.kids.length > 1 ? 1 : 0);
    for (const kid of e.kids.slice().reverse()) open.push({e: kid, depth: below});
  }
  const parts = [];
  for (let i = 0; i < all.length; i += 100) parts.push(el('section', {}, ...all.slice(i, i + 100)));
  rows.replaceChildren(...parts);
  markPath();
}
function markPath() {
  for (const [e, a] of rowOf) a.classList.toggle('on-path', isShown(e));
}
let marked;
function markRow(e) {
  if (!rowOf.size) return;
  while (e && e !== root && !rowOf.has(e)) e = e.up;
  const a = e && rowOf.get(e);
  if (a === marked) return;
  if (marked) marked.removeAttribute('aria-current');
  marked = a;
  if (!a) return;
  a.setAttribute('aria-current', 'true');
  a.scrollIntoView({block: 'nearest'});
}
function setTree(open) {
  if (open && !rowOf.size) drawTree();
  body.classList.toggle('with-tree', open);
  treeButton.setAttribute('aria-expanded', open);
  drawChart();
  if (open) markRow(atTop() || current);
}
// atTop is the entry at the upper border of the window.
function atTop() {
  const box = main.getBoundingClientRect();
  return entryOf(document.elementFromPoint(box.left + box.width / 2, tools.getBoundingClientRect().bottom + 24));
}
let scrolled;
addEventListener('scroll', () => {
  tools.classList.toggle('stuck', scrollY > tools.offsetTop);
  clearTimeout(scrolled);
  scrolled = setTimeout(() => body.classList.contains('with-tree') && markRow(isSeen(current) ? current : atTop()), 120);
}, {passive: true});
function isSeen(e) {
  const box = e && isShown(e) && e.node.getBoundingClientRect();
  return box && box.bottom > 0 && box.top < innerHeight;
}
// In a narrow window the tree covers the messages, so a choice closes it.
rows.addEventListener('click', event => { if (event.target.closest('a') && innerWidth < 1200) setTree(false); });

// ---- search

const most = 9999;
let hits = [], hit = -1, searched = '';
const pattern = text => new RegExp(text.trim().replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu');
function search(text) {
  hits = []; hit = -1; searched = text;
  paint();
  if (text.trim()) {
    const re = pattern(text), shown = path.filter(e => e.isTop), rest = [...entries.values()].filter(e => e.isTop && !isShown(e));
    for (const e of [...shown, ...rest]) {
      for (const m of e.node.textContent.matchAll(re)) if (hits.length < most) hits.push({e, at: m.index, length: m[0].length});
    }
  }
  count.textContent = !text.trim() ? '' : hits.length ? counted() : 'nothing found';
}
function counted() {
  const away = hits.filter(h => !isShown(h.e)).length;
  return (hit < 0 ? '' : hit + 1 + ' of ') + (hits.length < most ? hits.length : 'more than ' + most) + (hit < 0 ? ' found' : '') + (away ? `, ${away} on other branches` : '');
}
function rangeOf({e, at, length}) {
  const walk = document.createTreeWalker(e.node, NodeFilter.SHOW_TEXT), range = document.createRange();
  let seen = 0, from;
  while (walk.nextNode()) {
    const n = walk.currentNode, end = seen + n.length;
    if (!from && at < end) { from = n; range.setStart(n, at - seen); }
    if (from && at + length <= end) { range.setEnd(n, at + length - seen); return range; }
    seen = end;
  }
  return range;
}
function paint(range) {
  if (!window.Highlight) {
    getSelection().removeAllRanges();
    if (range) getSelection().addRange(range);
    return;
  }
  CSS.highlights.clear();
  if (!range) return;
  CSS.highlights.set('hit', new Highlight(...hits.filter(h => h.e === hits[hit].e).map(rangeOf)));
  const here = new Highlight(range);
  here.priority = 1;
  CSS.highlights.set('here', here);
}
function step(by) {
  if (!hits.length) return;
  hit = hit < 0 && by < 0 ? hits.length - 1 : (hit + by + hits.length) % hits.length;
  const {e} = hits[hit];
  if (folding === 'outline') setFolding('usual');
  reveal(e);
  decorate(e.node); // now, for it moves blocks, and a range in one would be lost
  const range = rangeOf(hits[hit]);
  unfold(range.startContainer.parentElement);
  setCurrent(e);
  paint(range);
  range.startContainer.parentElement.scrollIntoView({block: 'center'});
  count.textContent = counted();
}

// ---- the tools and the keys

const treeButton = el('button', {type: 'button', textContent: 'Tree'});
const foldButton = el('button', {type: 'button', textContent: 'Open all'});
const helpButton = el('button', {type: 'button', textContent: '?'});
helpButton.setAttribute('aria-label', 'keys');
const input = el('input', {type: 'search', placeholder: 'Search (/)', spellcheck: false, autocomplete: 'off'});
input.setAttribute('aria-label', 'search all texts');
const count = el('output', {});
const said = el('output', {});
said.setAttribute('aria-live', 'polite');
said.style.cssText = 'position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden';
const tools = el('div', {className: 'tools'}, treeButton, input, count, foldButton, helpButton, said);
tools.setAttribute('role', 'toolbar');
const treeClose = el('button', {type: 'button', textContent: '×'});
treeClose.setAttribute('aria-label', 'close the tree');
tree.append(el('p', {}, 'Tree', treeClose), rows);

const keys = [
  [['j', 'k'], 'next and previous message', {j: () => move(1), k: () => move(-1)}],
  [['u', 'U'], 'next and previous prompt', {u: () => move(1, '.user'), U: () => move(-1, '.user')}],
  [['[', ']'], 'previous and next branch', {'[': () => branch(-1), ']': () => branch(1)}],
  [['/'], 'search', {'/': () => { input.focus(); input.select(); }}],
  [['n', 'N'], 'next and previous hit', {n: () => step(1), N: () => step(-1)}],
  [['t'], 'tree', {t: () => setTree(!body.classList.contains('with-tree'))}],
  [['f'], 'open all, outline, fold', {f: nextFolding}],
  [['o'], 'open or fold what is in the message', {o: toggle}],
  [['x'], 'fold the message', {x: () => here() && here().node.classList.toggle('folded')}],
  [['c'], 'copy the message', {c: () => here() && copy(textOf(here().node), here().node.querySelector('[data-do=copy]'))}],
  [['Esc'], 'end the search, close the tree', {}],
  [['?'], 'this list', {'?': () => help.showModal()}],
];
const help = el('dialog', {}, el('dl', {}, ...keys.flatMap(([names, what]) => [el('dt', {}, ...names.flatMap((n, i) => [i ? ' ' : '', el('kbd', {textContent: n})])), el('dd', {textContent: what})])));
help.addEventListener('click', () => help.close());

// here is the message that keys are about: the one that was gone to, or the one at the top.
const here = () => {
  const e = current && isShown(current) ? current : atTop();
  return e && topOf(e);
};
// move goes to the next message by one, or by the next one of a kind.
function move(by, kind) {
  const all = path.filter(e => e.isTop && e.node.matches(kind || 'article'));
  const from = current && isShown(current) ? current : atTop();
  let i = from ? all.findIndex(e => e.at >= topOf(from).at) : 0;
  if (i < 0) i = all.length;
  if (from && current === from && all[i] === from) i += by; else if (by < 0) i--;
  if (all[i]) go(all[i]);
}
// branch changes the fork that is nearest above the message, or the first one.
function branch(by) {
  const from = here(), forked = path.filter(e => e.up.kids.length > 1);
  const e = forked.filter(f => !from || f.at <= from.at).at(-1) || forked[0];
  const next = e && e.up.kids[e.up.kids.indexOf(e) + by];
  if (next) go(next);
}
function toggle() {
  const all = here() ? [...here().node.querySelectorAll('details')] : [], open = all.some(d => !d.open);
  for (const d of all) d.open = open;
}

treeButton.addEventListener('click', () => setTree(!body.classList.contains('with-tree')));
treeClose.addEventListener('click', () => setTree(false));
foldButton.addEventListener('click', nextFolding);
helpButton.addEventListener('click', () => help.showModal());
let typing;
input.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(() => search(input.value), 150); });
input.addEventListener('keydown', event => {
  if (event.key === 'Enter') {
    event.preventDefault();
    clearTimeout(typing);
    if (searched !== input.value) search(input.value);
    step(event.shiftKey ? -1 : 1);
  } else if (event.key === 'Escape') {
    input.value = '';
    search('');
    input.blur();
  }
});
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.matches('input, textarea')) return;
  if (event.key === 'Escape') {
    if (input.value) { input.value = ''; search(''); } else setTree(false);
    return;
  }
  for (const [, , does] of keys) {
    if (!Object.hasOwn(does, event.key)) continue;
    event.preventDefault();
    does[event.key]();
    return;
  }
});

main.before(tools, chart);
body.append(tree, help);
drawForks();
drawChart();
goToHash();
if (innerWidth >= 1200) (window.requestIdleCallback || setTimeout)(() => setTree(true));

})();
