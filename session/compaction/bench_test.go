package compaction

import (
	"strings"
	"testing"
)

func BenchmarkPlanOf10000Messages(b *testing.B) {
	s := built(b, strings.Repeat("u:1000 a:1000 ", 5000))
	branch, seen := s.Branch(), s.Context()
	b.ReportAllocs()
	for b.Loop() {
		p, err := NewPlan(branch, seen, 1<<20, Limits{Keep: 20000, Room: 30000})
		if err != nil || len(p.Summarize) < 9000 {
			b.Fatal(err)
		}
	}
}

func BenchmarkTranscriptOf1MB(b *testing.B) {
	s := built(b, strings.Repeat("u:400 c:400 r:40000 a:400 ", 25))
	b.ReportAllocs()
	for b.Loop() {
		if n := len(Transcript(s.Context())); n < 50000 {
			b.Fatal(n)
		}
	}
}
