//go:build unix

package app

import (
	"os/exec"
	"slices"
	"testing"

	"pi/internal/process"
)

func TestWhatGoesOnIsKnownOnceItsProgramHasEnded(t *testing.T) {
	p := place(t, Options{}, nil)
	cmd := exec.Command("sleep", "600")
	process.Session(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	t.Cleanup(func() { process.Kill(cmd); _ = cmd.Wait() })
	take := func(keep bool, want ...int) {
		t.Helper()
		if got := takeOrphans(p.AgentDir, keep); !slices.Equal(got, want) {
			t.Errorf("orphans are %v, want %v", got, want)
		}
	}
	notes := &orphanNotes{}
	notes.write(nil)
	if notes.file != nil {
		t.Error("nothing is noted in a file")
	}
	const noGroup = 100_000_000
	notes.write([]int{noGroup, group})
	take(false) // its program lives
	_ = notes.file.Close()
	take(true, group)
	take(false, group)
	take(false) // the user was asked

	notes = &orphanNotes{}
	notes.write([]int{group})
	notes.write([]int{noGroup})
	_ = notes.file.Close()
	take(true) // nothing lives
	notes = &orphanNotes{}
	notes.write([]int{group})
	notes.write(nil) // an end in order
	take(true)
}
