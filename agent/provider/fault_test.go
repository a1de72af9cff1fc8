package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/agent/llm"
)

func TestTheTextOfAPageIsCutBetweenCharacters(t *testing.T) {
	for n := range 4 {
		e := answered(http.StatusBadGateway, "<body>"+strings.Repeat("x", n)+strings.Repeat("€", 200)+"</body>")
		if !utf8.ValidString(e.Message) || !strings.HasSuffix(e.Message, "€ …") {
			t.Errorf("message %q", e.Message)
		}
	}
}

// FuzzErrorBody holds for any body of an error: it is described somehow, and the
// key is not in the description.
func FuzzErrorBody(f *testing.F) {
	const key = "sk-0123456789abcdef"
	for _, seed := range []string{
		`{"error":{"message":"m","type":"t","code":401,"metadata":{"raw":"r"}}}`, `{"error":"text","code":"c"}`, `{"detail":[{"msg":"m"}]}`,
		`[{"error":{"message":"` + key + `"}}]`, `<title>` + key + `</title>`, `{"error":{"error":{"error":{"error":{"error":"deep"}}}}}`,
		`{"message":"sk-0123\u0034\u00356789abcdef"}`, "sk-0123\x00456789abcdef", `{"error":{"message":5,"type":[]}}`, ``, `null`, `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		faults := &faults{model: &llm.Model{Provider: "p", ID: "m"}, secrets: collectSecrets(key)}
		for _, e := range []*llm.ProviderError{
			faults.answer(http.StatusBadRequest, nil, []byte(body)),
			faults.notAStream("application/json", nil, []byte(body)),
		} {
			if shown := fmt.Sprintf("%+v %v", *e, e); strings.Contains(shown, key) {
				t.Errorf("the key is in %s", shown)
			}
			if e.Message == "" || len(e.Message) > longestShownText+100 {
				t.Errorf("message %q", e.Message)
			}
		}
	})
}
