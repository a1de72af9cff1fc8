package compaction

// Limits bound a compaction, in tokens as the provider counts them.
type Limits struct {
	Keep   int  // about as much of the newest conversation stays as it is
	Room   int  // what is kept may be at most this much; more is shortened by edits; 0: no limit
	Beside int  // about what a request has besides messages
	All    bool // a user asked for it: where Keep would keep everything, all is summarised and nothing kept

	Smaller bool // a plan that does not make the context smaller is an error, see [Plan.IsSmaller]
}

// cut chooses the position on the branch from which entries are kept, about as many as
// l.Keep asks for. ok is false if no cut would leave anything to summarise; at means
// nothing then.
func (c *cutting) cut(tokensBefore int, l Limits) (at int, ok bool) {
	if at = c.cutFor(l.Keep, l); c.useful(at) {
		return at, true
	}
	switch {
	case l.All && c.must >= len(c.branch):
		at = len(c.branch)
	case l.All:
		at = c.latestCut()
	case tokensBefore > l.Keep && l.Keep > 0:
		share := int(float64(l.Keep) * float64(c.total) / float64(tokensBefore))
		at = c.cutFor(min(share, c.total/2), l)
	}
	return at, c.useful(at)
}

// cutFor returns the position of a cut that keeps about so many tokens: the last one
// that keeps at least that many, or the next one behind it, which keeps fewer, if the
// first would keep too much (l.Room) or leave nothing to summarise. -1 if all messages
// together have fewer.
func (c *cutting) cutFor(tokens int, l Limits) int {
	k := len(c.branch) - 1
	for ; k >= c.first && (c.kept[k] < tokens || c.kept[k] == 0); k-- {
	}
	if k < c.first {
		return -1
	}
	before, after := c.lastLegal(min(k, c.must)), c.firstLegal(k+1)
	fits := l.Room == 0 || before >= 0 && (c.kept[before] <= l.Room || c.shortens(before, l.Room))
	if after >= 0 && !(fits && c.useful(before)) {
		return after
	}
	return c.widen(before, l)
}

// widen returns the position of the beginning of the turn in which a cut falls, so that
// the turn is kept whole, or the cut as it is if that would keep over a tenth of l.Keep
// more, exceed l.Room, or leave nothing to summarise.
func (c *cutting) widen(at int, l Limits) int {
	if at < 0 {
		return at
	}
	start, kept := c.splitTurn(at)
	if start == kept || c.items[start].Entry == nil {
		return at
	}
	k := c.keys[start]
	if k > at || !c.legal[k] || !c.useful(k) {
		return at
	}
	fits := l.Room == 0 || c.kept[k] <= l.Room || c.kept[at] > l.Room // or is shortened anyway
	if c.kept[k]-c.kept[at] > l.Keep/10 || !fits {
		return at
	}
	return k
}

// latestCut returns the last position where the branch may be cut; the length of the
// branch, which keeps nothing, if there is none.
func (c *cutting) latestCut() int {
	if k := c.lastLegal(min(c.must, len(c.branch)-1)); k >= 0 {
		return k
	}
	return len(c.branch)
}

// lastLegal is the last legal cut up to k; -1 if there is none.
func (c *cutting) lastLegal(k int) int {
	for k = min(k, len(c.legal)-1); k >= 0 && !c.legal[k]; k-- {
	}
	return k
}

// firstLegal is the first legal cut from k on that is not too late; -1 if there is none.
func (c *cutting) firstLegal(k int) int {
	for ; k < len(c.legal) && k <= c.must; k++ {
		if c.legal[k] {
			return k
		}
	}
	return -1
}
