package provider

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
)

// IDRule fits a tool-call id to what an API accepts. It depends on the id alone.
type IDRule func(id string) string

// CallIDs renames the tool calls of a conversation for one request. The same
// conversation always gives the same names, and a longer one keeps the names of
// its beginning. Ids that repeat, or become equal by the rule, are told apart:
// some servers number their calls from zero in each answer.
type CallIDs struct {
	rule IDRule
	now  map[string]string   // the last name of an id
	open map[string][]string // names that have no result yet, the oldest first
	used map[string]int      // names, and the last number that was put behind each
}

// NewCallIDs returns an empty renaming.
func NewCallIDs(rule IDRule) *CallIDs {
	return &CallIDs{rule: rule, now: map[string]string{}, open: map[string][]string{}, used: map[string]int{}}
}

// Call names a call of an assistant message; each is asked for once, in order.
func (c *CallIDs) Call(id string) string {
	name := c.free(c.rule(id))
	c.used[name], c.now[id] = 1, name
	c.open[id] = append(c.open[id], name)
	return name
}

// Fork returns a copy that names results while c stays as it is. It names no calls.
func (c *CallIDs) Fork() *CallIDs {
	return &CallIDs{rule: c.rule, now: c.now, open: maps.Clone(c.open), used: c.used}
}

// free is a name like this one that no call has. The numbers that were tried
// before are not tried again: a conversation may have one id in each answer.
func (c *CallIDs) free(name string) string {
	n, taken := c.used[name]
	if !taken {
		return name
	}
	for {
		n++
		next := c.rule(fmt.Sprintf("%s_%d", name, n))
		if _, taken := c.used[next]; !taken {
			c.used[name] = n
			return next
		}
	}
}

// Result names the call that a result belongs to: of those with that id the
// oldest without one, or else the last.
func (c *CallIDs) Result(id string) string {
	if names := c.open[id]; len(names) > 0 {
		if c.open[id] = names[1:]; len(names) == 1 {
			delete(c.open, id)
		}
		return names[0]
	}
	if name, ok := c.now[id]; ok {
		return name
	}
	return c.rule(id)
}

// WordIDs is the rule for letters, digits, _ and -, at most limit of them.
func WordIDs(limit int) IDRule {
	return func(id string) string {
		return shorten(strings.Map(func(r rune) rune {
			if isWord(r) || r == '_' || r == '-' {
				return r
			}
			return '_'
		}, id), id, limit)
	}
}

// ShortIDs is the rule for any visible ASCII, at most limit characters. Ids are
// left alone where possible: some models were trained on the form of theirs.
func ShortIDs(limit int) IDRule {
	return func(id string) string {
		head, _, _ := strings.Cut(id, "|") // what follows belongs to another API
		return shorten(strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f {
				return r
			}
			return '_'
		}, head), id, limit)
	}
}

// ExactIDs is the rule for exactly n letters and digits.
func ExactIDs(n int) IDRule {
	return func(id string) string {
		if len(id) == n && strings.IndexFunc(id, func(r rune) bool { return !isWord(r) }) < 0 {
			return id
		}
		return digest(id, n)
	}
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// shorten keeps the beginning of a long name and makes it unique by a digest of
// the whole id.
func shorten(name, id string, limit int) string {
	if name == "" {
		return "call_" + digest(id, 8)
	}
	if len(name) <= limit {
		return name
	}
	return name[:limit-13] + "_" + digest(id, 12)
}

// digest gives n letters and digits that depend on s only.
func digest(s string, n int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sum := sha256.Sum256([]byte(s))
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[int(sum[i%len(sum)])%len(alphabet)]
	}
	return string(out)
}
