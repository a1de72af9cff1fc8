package rawjson

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

// Valid is json.Valid in a quarter of the time. With that one a third of the time to the
// first request of a long session would be spent here.
func Valid(b []byte) bool {
	c := checker{b: b}
	if !c.value(1) {
		return false
	}
	c.space()
	return c.i == len(b)
}

// checker walks over a text; each method reports whether what has to stand
// there does, and goes behind it.
type checker struct {
	b []byte
	i int
}

func (c *checker) space() {
	for c.i < len(c.b) && (c.b[c.i] == ' ' || c.b[c.i] == '\t' || c.b[c.i] == '\r' || c.b[c.i] == '\n') {
		c.i++
	}
}

// next goes over white space and returns what follows, 0 at the end.
func (c *checker) next() byte {
	c.space()
	return c.peek()
}

// peek returns the next byte, 0 at the end.
func (c *checker) peek() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// value reads any value; depth is how many objects and arrays it is in, itself included.
func (c *checker) value(depth int) bool {
	switch c.next() {
	case '{':
		return depth <= maxDepth && c.list('}', depth, c.member)
	case '[':
		return depth <= maxDepth && c.list(']', depth, c.value)
	case '"':
		return c.str()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

// list reads an object or an array up to its closing bracket, which is end; item reads
// one element.
func (c *checker) list(end byte, depth int, item func(int) bool) bool {
	c.i++
	if c.next() == end {
		c.i++
		return true
	}
	for item(depth + 1) {
		switch c.next() {
		case ',':
			c.i++
		case end:
			c.i++
			return true
		default:
			return false
		}
	}
	return false
}

// member reads a key, a colon and a value.
func (c *checker) member(depth int) bool {
	if c.next() != '"' || !c.str() || c.next() != ':' {
		return false
	}
	c.i++
	return c.value(depth)
}

// str reads a string, which begins at the next byte.
func (c *checker) str() bool {
	for i := c.i + 1; i < len(c.b); i++ {
		switch b := c.b[i]; {
		case b == '"':
			c.i = i + 1
			return true
		case b == '\\':
			n := escapeLen(c.b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case b < ' ':
			return false
		}
	}
	return false
}

// escapeLen measures the escape that v begins with; 0 if it is none.
func escapeLen(v []byte) int {
	if _, ok := plainEscape(v); ok {
		return 2
	}
	if len(v) < 6 || v[1] != 'u' {
		return 0
	}
	for _, d := range v[2:6] {
		if (d < '0' || d > '9') && (d|0x20 < 'a' || d|0x20 > 'f') {
			return 0
		}
	}
	return 6
}

func (c *checker) word(w string) bool {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		return false
	}
	c.i += len(w)
	return true
}

// number reads a number as JSON allows it: no leading zero, no + before it.
func (c *checker) number() bool {
	if c.peek() == '-' {
		c.i++
	}
	if c.peek() == '0' {
		c.i++
	} else if !c.digits() {
		return false
	}
	if c.peek() == '.' {
		c.i++
		if !c.digits() {
			return false
		}
	}
	if c.peek()|0x20 != 'e' {
		return true
	}
	if c.i++; c.peek() == '+' || c.peek() == '-' {
		c.i++
	}
	return c.digits()
}

// digits reads at least one digit.
func (c *checker) digits() bool {
	start := c.i
	for c.peek() >= '0' && c.peek() <= '9' {
		c.i++
	}
	return c.i > start
}
