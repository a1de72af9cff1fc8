// The script of the page is these files, one behind the other, as one module. Everything they know is
// in the elements of the page; texts of the session get into elements as text only (textContent,
// append), never as markup.

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
