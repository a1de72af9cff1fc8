package keyring

import (
	"os"
	"path/filepath"
	"testing"
)

// What other programs keep in auth.json is a key, though a setting of those words would name a file.
func TestAKeyOfAuthJSONNamesNoFile(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	for path, text := range map[string]string{secret: "sk-in-the-file\n", filepath.Join(dir, "auth.json"): `{"groq": {"type": "api_key", "key": "file:secret"}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ring := New(Options{AgentDir: dir, Getenv: func(string) string { return "" }})
	for _, tt := range []struct{ configured, want string }{{"", "file:secret"}, {"file:secret", "sk-in-the-file"}} {
		k := Key{Ring: ring, Provider: "groq", Logins: []string{"groq"}, Configured: tt.configured}
		if got, err := k.Resolve(t.Context()); err != nil || got != tt.want {
			t.Errorf("api_key %q: %q, %v; want %q", tt.configured, got, err, tt.want)
		}
	}
}
