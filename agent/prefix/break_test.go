package prefix

import (
	"testing"
)

func TestAPrefixBreakReadsAsASentence(t *testing.T) {
	tests := map[string]Break{
		"pop changed message 3":         {Hook: "pop", Part: PartMessages, Message: 3},
		"pop changed the system prompt": {Hook: "pop", Part: PartSystem},
		"pop changed the tools":         {Hook: "pop", Part: PartTools},
	}
	for want, b := range tests {
		if got := b.String(); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
