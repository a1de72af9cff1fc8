// The search over all texts, also folded ones and those of other branches.

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
