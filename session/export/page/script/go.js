// Going to an entry: its branch is shown, and what it is folded in is opened.

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
