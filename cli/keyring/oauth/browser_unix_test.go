//go:build unix

package oauth

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNextProgramIsTriedWhereOneFailsAndNoShellReadsTheAddress(t *testing.T) {
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named := script("fails", "exit 3\n") + ":" + script("opens", `printf '%s\n' "$#" "$1" >"`+opened+"\"\n")
	const address = "https://login.example/?a=$(touch x)&b=`id`;&state=s"
	b := Browser{Getenv: func(name string) string { return map[string]string{"BROWSER": named}[name] }}
	if err := b.Open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(opened); err != nil || string(got) != "1\n"+address+"\n" {
		t.Errorf("%q, %v", got, err)
	}
}
