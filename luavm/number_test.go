package luavm

import (
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

func TestANumberOfMillionsOfDigitsStopsNobody(t *testing.T) {
	digits := lua.LString(strings.Repeat("1", 6e7)) // made here, because to make it may take longer than a job has
	for _, source := range []string{`while true do tonumber(s) end`, `while true do tonumber(s, 16) end`} {
		h := newHook(t, Options{})
		h.SetGlobal("s", digits)
		if e := h.failure(t, source, within(50*time.Millisecond)); e.Kind != Timeout || h.Dead() {
			t.Errorf("%s: got %s: %v", source, e.Kind, e)
		}
	}
	newHook(t, Options{}).must(t, `assert(tonumber(("0"):rep(1000) .. "7") == 7 and tonumber(("1"):rep(1e5)) == nil)`)
}
