// The chart: tokens and cost of the answers that are shown.

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
