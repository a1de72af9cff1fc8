package openai

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDetailsThatDifferInTheirTextAreReadQuickly(t *testing.T) {
	var d details
	said := ""
	for _, piece := range []string{
		`{"type":"reasoning.text","text":"a ","index":0}`, `{"type":"reasoning.text","text":"\"b\\","index":0}`, `{"type":"reasoning.text","text":"é\n","index":0}`,
		`{"type":"reasoning.text","text":"c","index":0,"signature":"s"}`, // more than a text
		`{"type":"reasoning.text","text":"d","index":1}`, `{"type":"reasoning.text","text":"e","index":1}`,
		`{"type":"reasoning.text","inner":{"text":"x"},"text":"f","index":1}`, `{"type":"reasoning.text","inner":{"text":"y"},"text":"g","index":1}`,
		`{"type":"reasoning.text","text":"h","index":1,"text2":"i","index":1}`,
		`{"type":"reasoning.encrypted","data":"z","index":2}`, `{"type":"reasoning.encrypted","data":"z","index":2}`, `{"type":"reasoning.encrypted","index":2}`,
		`{"type":"reasoning.text","text":"j","id":"a"}`, `{"type":"reasoning.text","text":"k"}`, `{"type":"reasoning.text","text":"l","id":"b"}`,
	} {
		said += d.add([]json.RawMessage{json.RawMessage(piece)})
	}
	const want = `[{"index":0,"signature":"s","text":"a \"b\\é\nc","type":"reasoning.text"},{"index":1,"inner":{"text":"y"},"text":"defgh","text2":"i","type":"reasoning.text"},` +
		`{"data":"z","index":2,"type":"reasoning.encrypted"},{"data":"z","index":2,"type":"reasoning.encrypted"},{"index":2,"type":"reasoning.encrypted"},` +
		`{"id":"a","text":"jk","type":"reasoning.text"},{"id":"b","text":"l","type":"reasoning.text"}]`
	if got := d.String(); got != want || said != "a \"b\\é\ncdefghjkl" {
		t.Errorf("%q\ngot  %s\nwant %s", said, got, want)
	}
}

// Pieces of all kinds are joined to the same list whether what is around them is
// remembered or not.
func TestWhatIsRememberedOfADetailChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var quick, plain details
		var saidQuick, saidPlain string
		for range 6 {
			piece := json.RawMessage(fmt.Sprintf(`{%s}`, strings.Join(pick(r, `"type":"reasoning.text"`, `"index":0`, `"index":1`, `"text":"a\"text\":\""`, `"text":"b"`, `"text":"\\"`,
				`"summary":"s"`, `"summary":"text"`, `"id":"i"`, `"data":"d"`, `"in":{"text":"b"}`, `"signature":"g"`), ",")))
			saidQuick += quick.add([]json.RawMessage{piece})
			plain.before = nil
			saidPlain += plain.add([]json.RawMessage{piece})
		}
		if quick.String() != plain.String() || saidQuick != saidPlain {
			t.Fatalf("%q, %q\n%s\n%s", saidQuick, saidPlain, quick.String(), plain.String())
		}
	}
}

// pick takes a few of the words, mostly the same ones, in order.
func pick(r *rand.Rand, words ...string) []string {
	var some []string
	for i, w := range words {
		if r.IntN(4) == 0 || i == 0 {
			some = append(some, w)
		}
	}
	return some
}
