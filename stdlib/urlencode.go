package stdlib

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// encodeURL is http.encode: a text as part of an address, or a table as its query.
func encodeURL(L *lua.LState, v lua.LValue) (string, error) {
	switch v := v.(type) {
	case lua.LString:
		luavm.Building(L, 6*len(v)) // escaped, and once more for the blanks
		return encodePart(string(v)), nil
	case *lua.LTable:
		return encodeQuery(L, v)
	}
	return "", luavm.Misusef("a text or a table expected, got %s", v.Type())
}

// encodeQuery joins the fields of a table, sorted by name. A list is a field several times.
func encodeQuery(L *lua.LState, t *lua.LTable) (string, error) {
	luavm.Materialise(L, t)
	fields := map[string][]string{}
	var wrong error
	t.ForEach(func(k, v lua.LValue) {
		values, ok := luavm.Strings(L, v)
		if !ok {
			values = []string{v.String()}
		}
		if t := v.Type(); k.Type() != lua.LTString || !ok && t != lua.LTString && t != lua.LTNumber && t != lua.LTBool {
			wrong = luavm.Misusef("field %s is no text, number, boolean or list of texts", k)
		}
		fields[k.String()] = values
	})
	var parts []string
	size := 0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			luavm.Building(L, 6*(len(name)+len(value)))
			part := encodePart(name) + "=" + encodePart(value)
			size += len(part) + len("&")
			parts = append(parts, part)
		}
	}
	luavm.Room(L, size)
	return strings.Join(parts, "&"), wrong
}

// encodePart writes everything but letters, digits and -_.~ as %XX, so that the text can
// stand anywhere in an address.
func encodePart(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// resolveURL is http.resolve: the address that a link in the page at base means.
func resolveURL(L *lua.LState, base, link string) (lua.LValue, error) {
	luavm.Building(L, 10*(len(base)+len(link))) // escaped, read, resolved
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || !u.IsAbs() || u.Opaque != "" {
		return nil, errors.New("the base is no address such as https://example.com/page")
	}
	to, err := u.Parse(strings.TrimSpace(link))
	if err != nil {
		return nil, errors.New("the link is malformed")
	}
	return lua.LString(to.String()), nil
}
