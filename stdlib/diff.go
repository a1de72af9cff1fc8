package stdlib

import (
	"fmt"
	"strings"

	"pi/internal/printable"
	"pi/luavm"

	"github.com/aymanbagabas/go-udiff/lcs"
	lua "github.com/yuin/gopher-lua"
)

const (
	maxDiff = 16 << 20 // how much text a difference is made of, in bytes
	// maxDiffLines is how many lines it is made of. They are compared in one go, which nothing
	// can stop: this many take a fifth of a second.
	maxDiffLines = 1_000_000
)

// openDiff makes pi.diff.
//
//	unified(old, new, {from, to, context}?) → text
//
// from and to name the two texts ("a" and "b"), context is the number of lines
// around a change (3). Equal texts differ in nothing: the result is empty.
func openDiff(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, L, env, "diff")
	m.fn("unified", func(L *lua.LState, before, after string, opts lua.LValue) (string, error) {
		from, to, context := "a", "b", 3
		luavm.Unpack(L, 3, "diff.unified", luavm.Opt("from", &from), luavm.Opt("to", &to), luavm.Opt("context", &context))
		if context < 0 {
			return "", luavm.Misusef("option \"context\" must not be negative")
		}
		if len(before)+len(after) > maxDiff {
			return "", fmt.Errorf("compare texts: they are larger than %s together", printable.Bytes(maxDiff))
		}
		if n := strings.Count(before, "\n") + strings.Count(after, "\n"); n > maxDiffLines {
			return "", fmt.Errorf("compare texts: they have %d lines together, more than %d; compare them in parts", n, maxDiffLines)
		}
		look := looking(L)
		u := unified{before: textLines(before, look), after: textLines(after, look), look: look}
		return u.text(from, to, context), nil
	})
	return m.table
}

// textLines are the lines of a text with their ends.
func textLines(s string, look func(n int)) []string {
	n := strings.Count(s, "\n") + 1
	look(n * listSlot)
	lines := make([]string, 0, n)
	for line := range strings.Lines(s) {
		if len(lines)%looksApart == 0 {
			look(0)
		}
		lines = append(lines, line)
	}
	return lines
}

// unified writes the difference of two texts. It writes each line as it finds it, and looks
// at its job meanwhile, which the library's own function for this does not.
type unified struct {
	before, after []string
	look          func(n int)
	b             strings.Builder
	lines         int // written
}

// text returns the difference with so many lines around each change.
func (u *unified) text(from, to string, context int) string {
	u.look(0)
	changes := lcs.DiffLines(u.before, u.after)
	if len(changes) == 0 {
		return ""
	}
	context = min(context, len(u.before)) // so that twice as many can be counted
	u.write("--- ", from+"\n")
	u.write("+++ ", to+"\n")
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Start-changes[n-1].End <= 2*context {
			n++
		}
		u.hunk(changes[:n], context)
		changes = changes[n:]
	}
	return u.b.String()
}

// hunk writes changes that are near each other, and the lines around them.
func (u *unified) hunk(changes []lcs.Diff, context int) {
	first, last := changes[0], changes[len(changes)-1]
	from, end := max(first.Start-context, 0), min(last.End+context, len(u.before))
	to := first.ReplStart - (first.Start - from)
	added := last.ReplEnd - first.ReplStart - (last.End - first.Start)
	u.write("@@", " -"+span(from, end-from)+" +"+span(to, end-from+added)+" @@\n")
	for _, c := range changes {
		u.each(" ", u.before[from:c.Start])
		u.each("-", u.before[c.Start:c.End])
		u.each("+", u.after[c.ReplStart:c.ReplEnd])
		from = c.End
	}
	u.each(" ", u.before[from:end])
}

// span says where n lines from a position on are. None in an empty text are at 0, as diff
// says it.
func span(at, n int) string {
	switch {
	case n > 1:
		return fmt.Sprintf("%d,%d", at+1, n)
	case n == 0 && at == 0:
		return "0,0"
	}
	return fmt.Sprint(at + 1)
}

// each writes lines with a sign before them.
func (u *unified) each(sign string, lines []string) {
	for _, line := range lines {
		u.write(sign, line)
		if !strings.HasSuffix(line, "\n") {
			u.write("\n", "\\ No newline at end of file\n")
		}
	}
}

// write writes a line in two parts. What is written is counted, and copied when it grows.
func (u *unified) write(sign, line string) {
	if u.lines++; u.lines%looksApart == 0 || len(line) > looksApart {
		u.look(0)
	}
	if size := u.b.Len() + len(sign) + len(line); size > u.b.Cap() {
		u.look(2 * size)
	}
	u.b.WriteString(sign)
	u.b.WriteString(line)
}
