// Copying of messages, blocks and links, and the buttons for that.

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
