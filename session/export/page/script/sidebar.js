// The tree at the side, a row for each message.

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
