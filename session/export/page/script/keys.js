// The tools above the messages, and the keys. It is the last file, and begins the rest.

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
