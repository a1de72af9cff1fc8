//go:build unix

package e2e

import (
	"strings"
	"testing"
)

func TestKeysGoThroughTheModelsOfTheSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), `models = ["here/*:low", "nowhere*", "demo/tour"]
thinking = "high"
[[providers.here.models]]
id = "a"
levels = ["off", "low"]
[[providers.here.models]]
id = "b"
[providers.here]
base_url = "http://127.0.0.1:9"
api = "openai-completions"
`)
	s := w.inTerminal("--model", "demo/tour")
	s.prompt()
	s.keys("half a line\x10")
	s.see(1, `warning: models in the settings: "nowhere*" fits no model that can be used`)
	s.see(1, "model: here/a:low")
	s.see(1, "> half a line")
	s.keys("\x1b[Z")
	s.see(1, "thinking: [off] low")
	s.see(1, "> half a line")
	s.keys("\x10")
	s.see(1, "model: here/b:")
	s.keys("\x10")
	s.see(1, "model: demo/tour:off")
	s.keys("\x10")
	s.see(1, "model: here/a:low")
	if n := strings.Count(s.text(), "nowhere*"); n != 1 {
		t.Errorf("the pattern that fits nothing is told of %d times:\n%s", n, s.text())
	}
}

func TestModelIsPickedFromWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/models.lua"), `pi.provider("mine", { models = { "plain", { id = "deep", context_window = 64000, levels = { "low", "high" } } }, stream = function(_, emit) emit{ type = "text", text = "answered" } end })`)
	s := w.inTerminal("--model", "pla")
	s.prompt()
	s.see(1, `--model: "pla" means mine/plain`)
	s.enter("/model")
	s.see(1, "Model · now mine/plain")
	s.see(1, "▸ mine/plain")
	s.see(1, "thinks low to high")
	s.keys("deep\r")
	s.see(1, "model: mine/deep:low")
	s.enter("/model")
	s.see(1, "▸ mine/deep")
	s.Press("ctrl+s")
	s.see(1, "model = mine/deep, written to ~/.pi/agent/config.toml")
	if b := mustRead(t, w.agentFile("config.toml")); !strings.Contains(b, `model = "mine/deep"`) {
		t.Errorf("config.toml is %s", b)
	}
	s.enter("/thinking")
	s.see(1, "Thinking of mine/deep (now low)")
	s.keys("high\r")
	s.see(1, "thinking: high")
	s.enter("hello")
	s.see(1, "answered")
	s.enter("/model plain")
	s.see(1, "model: mine/plain:off")
	s.enter("/model deep")
	s.see(1, "model: mine/deep:high")
	s.prompt()
}
