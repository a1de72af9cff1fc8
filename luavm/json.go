package luavm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// JSON says how to convert between JSON and Lua. The zero value is the normal
// way.
//
// Decoded objects and arrays are stubs that keep their bytes. What Lua does not
// change goes back as the bytes it came from, level by level, also when Lua
// has read it: large integers, the spelling of numbers, null fields and the
// order of keys survive. An empty array stays an array.
type JSON struct {
	// ToLua and ToWire rename the keys of objects, at every depth, on the way
	// in and out. A key that came in keeps its spelling on the way out, unless
	// names are renamed no more there: then it is spelt as in Lua.
	ToLua, ToWire func(key string) string
}

// Null is null where Lua's nil cannot be: in lists, and wherever Lua puts it.
var Null lua.LValue = null{}

type null struct{}

func (null) String() string       { return "null" }
func (null) Type() lua.LValueType { return lua.LTUserData }

// jsonNode is an object or array that has not been looked at.
type jsonNode struct {
	raw  []byte // from bracket to bracket; nil for what Lua made
	conv JSON
}

// jsonOrigin marks a table that was decoded: what it was made of.
type jsonOrigin struct {
	opaque
	raw    []byte // nil if there is no text that it came from
	array  bool
	fields []jsonField

	renamed bool // some keys may be spelt otherwise in Lua
}

// jsonField is one member as it came: a key of an object or an element.
type jsonField struct {
	key     string // as Lua sees it
	wire    []byte // as it came, quoted
	raw     []byte
	decoded lua.LValue
}

// DecodeJSON converts one JSON value. Objects and arrays are decoded when Lua
// looks at them; they share raw, which must not change any more. null alone is
// nil.
func (vm *VM) DecodeJSON(raw json.RawMessage, conv JSON) (lua.LValue, error) {
	if !json.Valid(raw) {
		var v any // only the decoder finds out what is wrong
		return nil, json.Unmarshal(raw, &v)
	}
	return vm.DecodeValidJSON(raw, conv), nil
}

// DecodeValidJSON is DecodeJSON for what is known to be valid JSON.
func (vm *VM) DecodeValidJSON(raw json.RawMessage, conv JSON) lua.LValue {
	return vm.json.value(bytes.TrimSpace(raw), conv)
}

// jsonDecoder makes Lua values of valid JSON. Objects and arrays are stubs.
type jsonDecoder struct {
	stubs *stubs
	fill  func(*lua.LState, any) *lua.LTable // (*jsonDecoder).table, made once
}

func newJSONDecoder(s *stubs) *jsonDecoder {
	d := &jsonDecoder{stubs: s}
	d.fill = d.table
	return d
}

// value returns the Lua value of raw, which is valid JSON without white space around it.
// An object or array becomes a stub, whose contents are decoded when Lua looks at it.
func (d *jsonDecoder) value(raw []byte, conv JSON) lua.LValue {
	switch raw[0] {
	case '{', '[':
		return d.stubs.init(new(stub), &jsonNode{raw, conv}, d.fill)
	case '"':
		return lua.LString(unquote(raw))
	case 't':
		return lua.LTrue
	case 'f':
		return lua.LFalse
	case 'n':
		return lua.LNil
	}
	n, _ := strconv.ParseFloat(string(raw), 64) // out of range is ±Inf
	return lua.LNumber(n)
}

// table is the build function of such a stub: ref is its *jsonNode. It decodes one level
// and marks the table with what it was decoded from (jsonOrigin), for the encoder.
func (d *jsonDecoder) table(L *lua.LState, ref any) *lua.LTable {
	node := ref.(*jsonNode)
	o := &jsonOrigin{raw: node.raw, array: node.raw[0] == '[', renamed: node.conv.ToLua != nil}
	var t *lua.LTable
	if o.array {
		t = d.array(L, o, node)
	} else {
		t = d.object(L, o, node)
	}
	t.Metatable = marker(o)
	return t
}

// partSize is about what a member of an object or list takes, once as it came and once in
// the table, without its text.
const partSize = 256

// countPart is called before member n of an object or list is decoded, from so many bytes. It
// raises as [Building] does; of small ones now and then.
func countPart(L *lua.LState, n, bytes int) {
	if n%looksApart == looksApart-1 {
		bytes += looksApart * partSize
	} else if bytes < looksApart {
		return
	}
	Building(L, bytes)
}

// array returns the list of the elements of node, with Null for null, and adds each
// element with its bytes to o.fields.
func (d *jsonDecoder) array(L *lua.LState, o *jsonOrigin, node *jsonNode) *lua.LTable {
	eachPart(node.raw, func(_, raw []byte) {
		countPart(L, len(o.fields), len(raw))
		v := d.value(raw, node.conv)
		if v == lua.LNil {
			v = Null
		}
		o.fields = append(o.fields, jsonField{raw: raw, decoded: v})
	})
	return NewList(L, len(o.fields), func(i int) lua.LValue { return o.fields[i].decoded })
}

// object returns the table of the members of node, without those that are null, and adds
// each member with its key and its bytes to o.fields.
func (d *jsonDecoder) object(L *lua.LState, o *jsonOrigin, node *jsonNode) *lua.LTable {
	index := map[string]int{}
	eachPart(node.raw, func(wire, raw []byte) {
		countPart(L, len(o.fields), len(wire)+len(raw))
		f := jsonField{key: unquote(wire), wire: wire, raw: raw, decoded: d.value(raw, node.conv)}
		if node.conv.ToLua != nil {
			f.key = node.conv.ToLua(f.key)
		}
		if i, again := index[f.key]; again {
			o.fields[i] = f // the last of equal keys counts
			return
		}
		index[f.key] = len(o.fields)
		o.fields = append(o.fields, f)
	})
	t := L.CreateTable(0, len(o.fields))
	for _, f := range o.fields {
		if f.decoded != lua.LNil {
			Set(t, f.key, f.decoded)
		}
	}
	return t
}

// MarkList makes an empty table encode as [] instead of {}. It does nothing to
// tables that have a metatable.
func MarkList(t *lua.LTable) {
	if t.Metatable == lua.LNil {
		t.Metatable = marker(&jsonOrigin{array: true})
	}
}

// eachPart calls f for each element of a valid array, with a nil key, or for each member
// of a valid object, with the key as it is written.
func eachPart(raw []byte, f func(key, value []byte)) {
	i := skipSpace(raw, 1)
	for raw[i] != ']' && raw[i] != '}' {
		var key []byte
		if raw[0] == '{' {
			end := skipValue(raw, i)
			key = raw[i:end:end]
			i = skipSpace(raw, skipSpace(raw, end)+1)
		}
		end := skipValue(raw, i)
		f(key, raw[i:end:end])
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
}

// skipSpace returns the position of the first byte from i on that is no white space.
func skipSpace(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r' {
		i++
	}
	return i
}

// skipValue returns the position behind the JSON value that begins at i.
func skipValue(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			for i < len(raw) && bytes.IndexByte([]byte(",]} \n\t\r"), raw[i]) < 0 { // a number or a word
				i++
			}
			return i
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// unquote decodes a JSON string, which must be valid.
func unquote(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // valid by contract
	return s
}
