package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// encodeState returns pi.state as JSON, for the next version of the hook. Fields that cannot
// be JSON are left out, and lost says which. err is for a VM that could not be asked.
func encodeState(ctx context.Context, vm *luavm.VM, records *record.Converter, timeout time.Duration) (state json.RawMessage, lost, err error) {
	found := new(foundState)
	err = vm.Run(ctx, luavm.Job{Name: "state", Timeout: timeout, Run: func(L *lua.LState) error {
		pi, _ := L.GetGlobal("pi").(*lua.LTable)
		if pi == nil {
			return nil
		}
		if table, ok := pi.RawGetString("state").(*lua.LTable); ok {
			table, found.lost = encodable(L, records, table)
			found.json, found.err = records.Encode(table, "pi.state")
		}
		return found.err
	}})
	if err != nil {
		return nil, nil, err
	}
	return found.json, found.lost, nil
}

// foundState is what a job found that may still run when nobody waits for it.
type foundState struct {
	json      json.RawMessage
	lost, err error
}

// encodable returns the fields of a state that can be JSON, and what is wrong with
// the others.
func encodable(L *lua.LState, records *record.Converter, state *lua.LTable) (*lua.LTable, error) {
	luavm.Materialise(L, state)
	if _, err := records.Encode(state, "pi.state"); err == nil {
		return state, nil
	}
	var errs []error
	fields := luavm.NewRecord(L, 0) // the version that runs uses its own on if the next one does not load
	state.ForEach(func(k, v lua.LValue) {
		one := luavm.NewRecord(L, 1)
		one.RawSet(k, v)
		if _, err := records.Encode(one, "pi.state"); err != nil {
			errs = append(errs, err)
			return
		}
		fields.RawSet(k, v)
	})
	return fields, errors.Join(errs...)
}
