// Folding of everything, in three steps: as usual, open, as an outline.

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
