package e2e

import (
	"fmt"
	"io"
	"strings"

	"pi/internal/testing/wiretest"
)

// googleAnswer is an answer of Gemini: a model of version 3 signs its first call
// and the end of its words, and gives its calls ids; older ones do neither.
type googleAnswer struct {
	w     io.Writer
	used  [4]int
	signs bool
	calls int
}

// signs reports whether the model that is asked at path is one that signs.
func signs(path string) bool { return strings.Contains(path, "gemini-3") }

// checkGoogle is what such a model takes.
func checkGoogle(path string, body []byte) error {
	if signs(path) {
		return wiretest.CheckSignedGemini(body)
	}
	return wiretest.CheckGemini(body)
}

func (a *googleAnswer) part(fields, finish string) {
	fmt.Fprintf(a.w, "data: {\"candidates\":[{\"content\":{\"parts\":[{%s}],\"role\":\"model\"},%s\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":%d,\"cachedContentTokenCount\":%d,\"candidatesTokenCount\":%d,\"thoughtsTokenCount\":1}}\r\n\r\n",
		fields, finish, a.used[0]+a.used[2]+a.used[3], a.used[2], a.used[1]-1)
}

func (a *googleAnswer) think(s string) { a.part(`"text":`+quoted(s)+`,"thought":true`, "") }

func (a *googleAnswer) text(s string) {
	for _, word := range strings.SplitAfter(s, " ") {
		a.part(`"text":`+quoted(word), "")
	}
}

func (a *googleAnswer) call(id, name, arguments string) {
	fields := fmt.Sprintf(`"name":%q,"args":%s`, name, arguments)
	if a.signs {
		fields += fmt.Sprintf(`,"id":%q`, id)
	}
	fields = `"functionCall":{` + fields + `}`
	if a.signs && a.calls == 0 {
		fields += `,"thoughtSignature":"c2lnbmVkIGNhbGw="`
	}
	a.part(fields, "")
	a.calls++
}

func (a *googleAnswer) end() {
	fields := `"text":""`
	if a.signs && a.calls == 0 {
		fields += `,"thoughtSignature":"c2lnbmVkIGVuZA=="`
	}
	a.part(fields, `"finishReason":"STOP",`)
}
