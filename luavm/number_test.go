package luavm

import (
	"testing"
	"time"
)

func TestANumberOfMillionsOfDigitsStopsNobody(t *testing.T) {
	for _, source := range []string{
		`local s = ("1"):rep(6e7) while true do tonumber(s) end`,
		`local s = ("1"):rep(6e7) while true do tonumber(s, 16) end`,
	} {
		h := newHook(t, Options{})
		if e := h.failure(t, source, within(50*time.Millisecond)); e.Kind != Timeout || h.Dead() {
			t.Errorf("%s: got %s: %v", source, e.Kind, e)
		}
	}
	newHook(t, Options{}).must(t, `assert(tonumber(("0"):rep(1000) .. "7") == 7 and tonumber(("1"):rep(1e5)) == nil)`)
}
