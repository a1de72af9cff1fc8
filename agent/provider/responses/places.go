package responses

// Which item an event is about. The index in the answer says so at most services, while
// the id of an item is a new one in each event of some. Others give the same index to
// several items; then their ids tell them apart, and the newest at the index is meant by
// an event whose id says nothing.

// add adds an item with that index in the answer. Its block has the same index if no other
// block has it.
func (l *items) add(index int) *outputItem {
	it := &outputItem{index: index, block: index}
	if l.byBlock == nil {
		l.byBlock, l.newest = map[int]*outputItem{}, map[int]*outputItem{}
		l.byID, l.byCall = map[string]*outputItem{}, map[string]*outputItem{}
	}
	if l.byBlock[index] != nil {
		it.block = l.last + 1
	}
	l.last = max(l.last, it.block)
	l.byBlock[it.block], l.newest[index] = it, it
	return it
}

// name gives an item the ids that it comes with; the first ones stay.
func (l *items) name(it *outputItem, w *wireItem) {
	if it.itemID == "" && w.ID != "" {
		it.itemID, l.byID[w.ID] = w.ID, it
	}
	if it.kind == call && it.callID == "" && w.CallID != "" {
		it.callID, l.byCall[w.CallID] = w.CallID, it
	}
}

// ofPiece returns the item that a piece belongs to; a new one if there is none yet. An id
// that is known finds it at another index too, unless all items have the same.
func (l *items) ofPiece(v *event) *outputItem {
	newest, named := l.newest[v.Output], l.byID[v.ItemID]
	switch {
	case named != nil && named.index == v.Output:
		return named
	case newest != nil && (named == nil || named.done || newest.itemID == v.ItemID):
		return newest
	case named != nil && !named.done:
		return named
	}
	return l.add(v.Output)
}

// ofBeginning returns the item that begins as w: a new one if there is none at the index,
// or another one.
func (l *items) ofBeginning(index int, w *wireItem) *outputItem {
	if it := l.like(index, w); it != nil {
		return it
	}
	return l.add(index)
}

// ofWhole returns the item that w is all of. It can be the newest at the index though it
// began with another id, or another id of its call, as long as that is not finished: some
// services make up new ones for each event. A call that came whole may come so again.
func (l *items) ofWhole(index int, w *wireItem) *outputItem {
	if it := l.like(index, w); it != nil {
		return it
	}
	if it := l.byCall[w.CallID]; it != nil && w.CallID != "" && it.index == index && it.kind == w.kind() {
		return it
	}
	it := l.newest[index]
	if it != nil && !it.done && it.kind == w.kind() && (!differ(it.callID, w.CallID) || !differ(it.itemID, w.ID)) {
		return it
	}
	return l.add(index)
}

// like returns the item at an index that w may well be: the newest, or the one with its
// ids; nil if there is none.
func (l *items) like(index int, w *wireItem) *outputItem {
	for _, it := range []*outputItem{l.newest[index], l.byID[w.ID], l.byCall[w.CallID]} {
		if it != nil && it.index == index && (it.kind == unknown || it.kind == w.kind()) &&
			!differ(it.itemID, w.ID) && !differ(it.callID, w.CallID) {
			return it
		}
	}
	return nil
}

// differ reports whether two ids say that they are those of two things. One that is
// missing says nothing.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// unfinished returns the item that an element of the list at the end completes: the one
// with its ids, for the list may be in another order, or else one without an id in its
// place; nil if there is none.
func (l *items) unfinished(place int, w *wireItem) *outputItem {
	for _, it := range []*outputItem{l.byCall[w.CallID], l.byID[w.ID]} {
		if it != nil && !it.done && !differ(it.callID, w.CallID) {
			return it
		}
	}
	it := l.newest[place]
	if it != nil && !it.done && it.itemID == "" && it.kind == w.kind() && !differ(it.callID, w.CallID) {
		return it
	}
	return nil
}

// lacks reports whether w is a call that is not among the items, nor the same as one of them
// that the list does not have by its id. told are those that stood for an element of the list.
func (l *items) lacks(w *wireItem, listed map[string]bool, told map[*outputItem]bool) bool {
	if w.kind() != call || w.CallID == "" || l.byCall[w.CallID] != nil {
		return false
	}
	for _, it := range l.byBlock {
		if it.kind == call && it.name == w.Name && !told[it] && !listed[it.callID] && isSameJSON(it.sent.String(), string(w.Arguments)) {
			told[it] = true
			return false
		}
	}
	return true
}

// tellsCalls reports whether all calls came with their ids. One that did not may be any of
// the list at the end.
func (l *items) tellsCalls() bool {
	for _, it := range l.byBlock {
		if it.name != "" && it.callID == "" {
			return false
		}
	}
	return true
}
