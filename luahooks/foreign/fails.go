package foreign

import (
	"strings"

	"pi/stdlib/annotated"
)

// Fails reports whether a function, such as "pi.exec" or "fs.read", returns nil and a message
// where it cannot do what it is for.
func (n *Names) Fails(function string) bool {
	of, name, _ := strings.Cut(function, ".")
	set := n.read()
	class := set.Module("pi." + of)
	switch of {
	case "pi":
		class = set.Class("pi")
	case "ctx":
		class = set.Class("pi.CommandContext")
	}
	m := set.Find(class, name)
	if m == nil || m.Type.Fn == nil || len(m.Type.Fn.Returns) != 2 {
		return false
	}
	for _, returned := range m.Type.Fn.Returns {
		if !mayBeNil(set, returned) {
			return false
		}
	}
	return true
}

// mayBeNil reports whether a type has the value nil.
func mayBeNil(set *annotated.Set, t *annotated.Type) bool {
	for _, part := range set.Parts(t) {
		if part.Kind == annotated.Basic && part.Name == "nil" {
			return true
		}
	}
	return false
}
