package stdlib

import (
	"strings"
	"testing"
)

// The patterns, which see the whole text, say what is right.
func checkFinder(t *testing.T, hasSecret func(string) bool, text string) {
	t.Helper()
	_, n := redaction{secrets: defaultSecrets()(), replacement: "[redacted]"}.apply(text)
	if got := hasSecret(text); got != (n > 0) {
		t.Errorf("%q: found a secret: %v", text, got)
	}
}

func TestTheFinderFindsWhatIsRedacted(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	hasSecret := NewSecretFinder()
	around := strings.Repeat("a token is (t *token), a password is none, sk-1 task-2 http://x/y@z\n", 200)
	for text := range redactions() {
		checkFinder(t, hasSecret, text)
		checkFinder(t, hasSecret, around+text+"\n"+around)
	}
}

func FuzzSecretFinder(f *testing.F) {
	for text := range redactions() {
		f.Add(text)
	}
	hasSecret := NewSecretFinder()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > beforeSign || strings.ContainsAny(text, "\u017f\u212a") || strings.Contains(text, "redacted") {
			return // what the finder is said not to know
		}
		checkFinder(t, hasSecret, text)
	})
}

// What a user pasted is looked through when it is sent.
func BenchmarkSecretFinder(b *testing.B) {
	hasSecret := NewSecretFinder()
	text := strings.Repeat("func (t *tokenizer) next(p []byte) (token, error) { return t.read(p) }\n", 4_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		hasSecret(text)
	}
}
