package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// FuzzWhatTheAPIReads gives tables of any shape to everything that reads one of a
// caller or of a result. An error is right; a panic is not, and nothing survives an
// exhausted stack.
func FuzzWhatTheAPIReads(f *testing.F) {
	f.Add([]byte{0, 64, 0})
	f.Add([]byte{0, 65, 70, 1, 1, 70, 2, 64, 2, 2, 67, 150})
	f.Add([]byte{0, 66, 70, 1, 0, 1, 1, 68, 0})
	f.Add([]byte{0, 72, 70, 1, 1, 70, 2, 68, 89, 2, 70, 2})
	f.Add([]byte("0000Z\xe6")) // an index far from every list
	vm := luavm.New(luavm.Options{})
	f.Cleanup(vm.Close)
	b := &bridge{Program: &Program{Log: func(string) {}}, vm: vm, records: record.NewConverter(vm, new(record.ValidJSON))}
	s := &Script{bridge: b}
	f.Fuzz(func(t *testing.T, script []byte) {
		for name, do := range map[string]func(L *lua.LState, t *lua.LTable) error{
			"content": func(L *lua.LState, t *lua.LTable) error { _, err := b.records.Content(L, t, "content"); return err },
			"tool result": func(L *lua.LState, t *lua.LTable) error {
				_, err := (&tools{bridge: b}).resultFrom(L, "t", t)
				return err
			},
			"outcome":     func(L *lua.LState, t *lua.LTable) error { _, err := (&commands{bridge: b}).outcome(L, t); return err },
			"attachments": func(L *lua.LState, t *lua.LTable) error { _, err := b.attachments(L, "send", t); return err },
			"messages":    func(L *lua.LState, t *lua.LTable) error { _, err := b.records.ItemsFrom(L, t, nil); return err },
			"models":      func(L *lua.LState, t *lua.LTable) error { modelSettings(L, t); return nil },
			"tools":       func(L *lua.LState, t *lua.LTable) error { models{b}.toolSpecs(L, t); return nil },
			"schema":      func(L *lua.LState, t *lua.LTable) error { b.schema(L, "tool", t); return nil },
			"lines":       func(L *lua.LState, t *lua.LTable) error { _, err := linesOf(L, t); return err },
			"log":         func(L *lua.LState, t *lua.LTable) error { s.log(L, t); return nil },
			"arguments":   func(L *lua.LState, t *lua.LTable) error { _, err := b.records.InputFrom("bash", t); return err },
			"an error":    func(L *lua.LState, t *lua.LTable) error { L.Error(t, 0); return nil },
		} {
			err := vm.Run(context.Background(), luavm.Job{Name: name, Timeout: 20 * time.Second, Run: func(L *lua.LState) error {
				return do(L, anyTable(L, script))
			}})
			var e *luavm.Error
			if errors.As(err, &e) && e.Kind != luavm.Raised {
				t.Errorf("%s: %s: %v\n%s", name, e.Kind, err, e.Traceback)
			}
		}
	})
}

// anyTable makes tables of a script that may hold each other and themselves, with the
// keys that readers know, and returns the first.
func anyTable(L *lua.LState, script []byte) *lua.LTable {
	words := []string{"message", "content", "role", "type", "text", "details", "user", "attachments", "usage", "arguments", "id", "name",
		"prompt", "status", "path", "data", "parameters", "description", "cost", "input", "models", "is_error"}
	tables := []*lua.LTable{L.NewTable()}
	value := func(b byte) lua.LValue {
		switch n := int(b); {
		case n < 64:
			return tables[n%len(tables)]
		case n < 80:
			tables = append(tables, L.NewTable())
			return tables[len(tables)-1]
		case n < 200:
			return lua.LString(words[n%len(words)])
		case n < 220:
			return lua.LNumber(n - 208)
		case n < 230:
			return lua.LBool(n%2 == 0)
		}
		return lua.LNumber(1e300)
	}
	for script = script[:min(len(script), 60)]; len(script) >= 3; script = script[3:] {
		if t, v := tables[int(script[0])%len(tables)], value(script[2]); script[1] < 64 {
			t.Append(v)
		} else {
			t.RawSetString(words[int(script[1])%len(words)], v)
		}
	}
	return tables[0]
}
