package luavm

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/parse"
)

// deep are the ways in which a text nests: n levels of each.
func deep() map[string]func(n int) string {
	around := func(open, inside, shut string) func(int) string {
		return func(n int) string { return strings.Repeat(open, n) + inside + strings.Repeat(shut, n) }
	}
	after := func(head, part, tail string) func(int) string {
		return func(n int) string { return head + strings.Repeat(part, n) + tail }
	}
	return map[string]func(int) string{
		"parentheses": func(n int) string { return "x = " + around("(", "1", ")")(n) },
		"tables":      func(n int) string { return "x = " + around("{", "", "}")(n) },
		"keys":        func(n int) string { return "x = {" + around("[{", "", "}]=1")(n) + "}" },
		"indices":     func(n int) string { return "x = t" + around("[t", "[1]", "]")(n) },
		"arguments":   func(n int) string { return around("f(", "1", ")")(n) },
		"functions":   func(n int) string { return "x = " + around("function() return ", "1", " end")(n) },
		"do":          around("do ", "", "end "),
		"if":          around("if a then ", "", "end "),
		"else":        around("if a then else ", "", "end "),
		"while":       around("while a do ", "", "end "),
		"for":         around("for i = 1, 2 do ", "", "end "),
		"repeat":      around("repeat ", "", "until a "),
		"elseif":      after("if a then ", "elseif b then ", "end"),
		"not":         after("x = ", "not ", "1"),
		"minus":       after("x = ", "- ", "1"),
		"length":      after("x = ", "#", "t"),
		"plus":        after("x = 1", "+1", ""),
		"power":       after("x = 2", "^2", ""),
		"concat":      after("x = a", "..a", ""),
		"and":         after("x = a", " and a", ""),
		"less":        after("x = a", " < a", ""),
		"unequal":     after("x = a", " ~= a", ""),
		"fields":      after("x = a", ".a", ""),
		"calls":       after("f", "()", ""),
		"texts":       after("f", "''", ""),
		"long texts":  after("f", "[[x]]", ""),
		"methods":     after("f", ":m()", ""),
	}
}

func TestWhatNestsTooDeepIsRefusedBeforeItIsParsed(t *testing.T) {
	for kind, of := range deep() {
		t.Run(kind, func(t *testing.T) {
			few := []byte(of(300))
			if _, err := CheckSource(few); err != nil {
				t.Errorf("300 levels: %v", err)
			}
			if _, err := parse.Parse(bytes.NewReader(few), "few"); err != nil {
				t.Fatalf("it is no Lua: %v", err)
			}
			if line, err := CheckSource([]byte("\n\n" + of(maxNested+1))); !errors.Is(err, errTooDeep) || line != 3 {
				t.Errorf("%d levels: line %d, %v", maxNested+1, line, err)
			}
			if _, err := CheckSource([]byte(strings.Repeat(of(10)+" ", 2000))); err != nil && !errors.Is(err, errFunctions) && !errors.Is(err, errTooLarge) {
				t.Errorf("one behind the other they nest: %v", err)
			}
		})
	}
}

func TestWhatIsLongAndFlatIsNoNest(t *testing.T) {
	for _, code := range []string{
		"x=1 ", "f() ", "f'(((('\n", "-- ((((\n", "--[==[ ((( ]] ]==] ", "x = [[ ((( ]] ", "x = '\\'((((' ", "local a, b = 1, 2; ", "::a:: ",
		"function f(...) return ... end ", "t.a.b.c = 1e-5 ", "if a then b() elseif c then d() else e() end ", "x = a..b y = 0xff ", "(f)() ; ", "x = {1, 2; y = 3} ",
		"x = \"\\\n((\" ", "x = 1 .. 2 ", "goto a ", "for k, v in pairs(t) do break end ", "repeat local x until x == nil ",
	} {
		n := min(4000, MaxSource/len(code))
		if line, err := CheckSource([]byte(strings.Repeat(code, n))); err != nil {
			t.Errorf("%q: line %d, %v", code, line, err)
		}
	}
}

func TestSizeAndFunctionsAreBounded(t *testing.T) {
	if _, err := CheckSource(make([]byte, MaxSource+1)); !errors.Is(err, errTooLarge) {
		t.Errorf("size: %v", err)
	}
	functions := strings.Repeat("function f() end\n", maxFunctions)
	if _, err := CheckSource([]byte(functions)); err != nil {
		t.Errorf("%d functions: %v", maxFunctions, err)
	}
	if line, err := CheckSource([]byte(functions + "f = function() end")); !errors.Is(err, errFunctions) || line != maxFunctions+1 {
		t.Errorf("one more: line %d, %v", line, err)
	}
}

// FuzzCheck holds that what is let through and is Lua has a tree that is no deeper
// than was counted.
func FuzzCheck(f *testing.F) {
	for _, of := range deep() {
		f.Add([]byte(of(3)))
	}
	f.Add([]byte("x = f{}[[a]]:b'' --[=[\n]=] y = not -#'\\'' ^ 2 ... ::a::"))
	f.Fuzz(func(t *testing.T, src []byte) {
		r := tokenReader{src: src, line: 1, frames: []frame{{}}}
		most := 0
		for tok := r.next(); tok.kind != tokenEnd; tok = r.next() {
			r.count(tok)
			most = max(most, r.depth)
		}
		if r.depth < 0 || most > len(src) {
			t.Fatalf("depth %d, at most %d", r.depth, most)
		}
		chunk, err := parse.Parse(bytes.NewReader(src), "fuzz")
		if err != nil {
			return
		}
		if deepest := treeDepth(reflect.ValueOf(chunk)); deepest > 2*most+4 {
			t.Errorf("%q: the tree has %d levels, %d were counted", src, deepest, most)
		}
	})
}

// treeDepth counts the pointers inside each other, which are the nodes.
func treeDepth(v reflect.Value) int {
	deepest := 0
	switch v.Kind() {
	case reflect.Interface:
		return treeDepth(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return 1 + treeDepth(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			deepest = max(deepest, treeDepth(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			deepest = max(deepest, treeDepth(v.Field(i)))
		}
	}
	return deepest
}
