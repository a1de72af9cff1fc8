package compaction

import (
	"testing"

	"pi/session"
	"pi/session/message"
)

// FuzzGaugeMeasuresAsAtOnce lets a context grow and shrink as the bytes
// say and holds a Gauge that is asked now and then against a count from nothing.
func FuzzGaugeMeasuresAsAtOnce(f *testing.F) {
	for _, seed := range []string{"umvuvmv", "umcuvamv", "uavuavuav", "umvdvuv", "cuvcmvuv", "umuvCvumv", "v", "uvivmv"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 300 {
			return
		}
		var items []session.Item
		var g Gauge
		for i, op := range append(ops, 'v') {
			it := session.Item{Index: i, Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("some words")}}}
			switch op {
			case 'm', 'a': // an answer, counted or not
				it.Message.Role, it.Message.StopReason = message.RoleAssistant, message.StopEnd
				if op == 'm' {
					it.Message.Usage = &message.Usage{Input: 100 * i}
				}
			case 'c', 'C': // a summary, at the end or in front
				it.Message = &message.Message{Role: message.RoleCompactionSummary, Summary: "so far"}
				if op == 'C' {
					items = append([]session.Item{it}, items...)
					continue
				}
			case 'i': // a hook's
				it.Index = -1
			case 'd':
				items = append([]session.Item{}, items[:len(items)/2]...)
				continue
			case 'v':
				tokens, measured := contextTokens(items)
				if r := g.Read(items[:len(items):len(items)]); r.Counted+r.Rest != tokens || r.At >= 0 != measured {
					t.Fatalf("%s: %+v, want %d (measured: %t)", ops[:min(i+1, len(ops))], r, tokens, measured)
				}
				continue
			}
			items = append(items, it)
		}
	})
}
