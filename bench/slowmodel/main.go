// Slowmodel lets a user try the terminal with a model that takes its time:
//
//	go run ./bench/slowmodel [-pause 40ms] [-keep FOLDER] [PROGRAM ARGS…]
//
// It plays a model on loopback whose words come one by one with a pause between them,
// and starts the program (by default it builds this one) in a new project and HOME with
// that model. What the model does depends on the words of the prompt; any other prompt
// is answered with the list of them. Nothing leaves the machine, and both folders are
// removed at the end.
//
//	main.go   the folders, the program, its model
//	player.go plays answers
//	scene.go  which words of a prompt bring which answer
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"pi/internal/testing/slowmodel"
)

func main() {
	pause := flag.Duration("pause", 40*time.Millisecond, "between two pieces of an answer")
	keep := flag.String("keep", "", "a folder for HOME and project that is kept, for trying again")
	flag.Parse()
	status, err := play(*pause, *keep, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowmodel:", err)
		status = 1
	}
	os.Exit(status)
}

// play starts model and program and returns the program's exit status.
func play(pause time.Duration, keep string, command []string) (int, error) {
	dir := keep
	if dir == "" {
		temporary, err := os.MkdirTemp("", "slowmodel")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	s, err := slowmodel.Listen()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if err := furnish(dir, s); err != nil {
		return 0, err
	}
	if len(command) == 0 {
		if command, err = build(dir); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go answerAll(ctx, s, pause)
	return run(dir, command)
}

// furnish writes settings and a small project.
func furnish(dir string, s *slowmodel.Server) error {
	files := map[string]string{
		"home/.pi/agent/config.toml": s.Settings("3s"),
		"project/main.go":            "package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n",
		"project/notes.txt":          "remember the milk\nand the bread\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// build compiles the program of this folder.
func build(dir string) ([]string, error) {
	path := filepath.Join(dir, "pi")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return []string{path}, nil
}

// run starts the program at this terminal. The signals of the keyboard are the
// program's own business.
func run(dir string, command []string) (int, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT)
	cmd := exec.Command(path, command[1:]...)
	cmd.Dir = filepath.Join(dir, "project")
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
