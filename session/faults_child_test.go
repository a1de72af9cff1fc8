package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// child is what the test program does when a test starts it as another process.
// The role is a word and its arguments, with tabs between them.
func child(role string) int {
	args := strings.Split(role, "\t")
	var err error
	switch args[0] {
	case "append":
		err = childAppends(args[1], args[2], args[3])
	case "copy":
		err = childCopies(args[1], args[2], args[3])
	case "start":
		err = childStarts(args[1], args[2])
	case "hold":
		err = childHolds(args[1], strings.Join(args[2:], ""))
	case "sleep":
		fmt.Println("asleep")
		time.Sleep(time.Hour)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childAppends opens path, or makes a session in it if it is a folder, and
// appends until it is killed. What has been appended it says, with one line for
// each entry: its id. It kills itself at the n-th time that it comes to the
// step, counted from 0.
func childAppends(path, step, n string) error {
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	s, err := openOrMake(path, Options{Cwd: "/w", seams: killingSeams(step, count)})
	if err != nil {
		return err
	}
	for i := range 200 {
		ids, err := appendSomething(s, i)
		if err != nil {
			return err
		}
		if i%7 == 0 {
			if err := s.Sync(); err != nil {
				return err
			}
		}
		if i == 0 {
			fmt.Println("file", s.File())
		}
		fmt.Println(strings.Join(ids, "\n"))
	}
	return errors.New("nobody killed me")
}

// childCopies copies the branch of a session to a folder and kills itself when it
// comes to the step.
func childCopies(path, dir, step string) error {
	s, err := Read(path)
	if err != nil {
		return err
	}
	if _, err := s.CopyPath(s.Leaf(), Options{Dir: dir, Cwd: "/w", seams: killingSeams(step, 0)}); err != nil {
		return err
	}
	return errors.New("nobody killed me")
}

func openOrMake(path string, o Options) (*Session, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		o.Dir = path
		return New(o), nil
	}
	return Open(path, o)
}

// appendSomething appends in all the ways there are.
func appendSomething(s *Session, i int) (ids []string, err error) {
	var e *Entry
	switch i % 6 {
	case 3:
		all, err := s.AppendAll([]Draft{{TypeCustom, Custom{CustomType: "x"}}, {"own", map[string]int{"i": i}}, {TypeCustom, Custom{CustomType: "y"}}})
		for _, e := range all {
			ids = append(ids, e.ID)
		}
		return ids, err
	case 4:
		e, err = moveLeaf(s, s.Branch()[0].ID)
	case 5:
		e, err = s.AppendMessage(user(strings.Repeat("long ", 20000)))
	default:
		e, err = s.AppendMessage(user(fmt.Sprint("Grüße ", i)))
	}
	if err != nil {
		return nil, err
	}
	return []string{e.ID}, nil
}

// killingSeams end the process without a word at the n-th time that it comes to
// a step; "" is never. The steps that are not the store's: half a write, the end
// of a sync.
func killingSeams(step string, n int) seams {
	at := func(name string) {
		if name != step {
			return
		}
		if n--; n < 0 {
			kill(os.Getpid())
		}
	}
	return seams{
		testOnlyStep: at,
		testOnlyWrite: func(f *os.File, b []byte) (int, error) {
			if step == "half" && n == 0 {
				f.Write(b[:len(b)/2])
			}
			at("half")
			return f.Write(b)
		},
		testOnlySync: func(f *os.File) error {
			err := f.Sync()
			at("synced")
			return err
		},
	}
}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
	select {} // the signal is on its way
}

// childStarts waits for the end of its input, so that many start at once, and
// says whether it may write. The one that may stays until it is killed.
func childStarts(path, locks string) error {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	s, err := Open(path, Options{LockDir: locks})
	if err != nil {
		fmt.Printf("no %v\n", err)
		return nil
	}
	if _, err := s.AppendMessage(user("mine")); err != nil {
		return err
	}
	fmt.Println("writer", os.Getpid())
	time.Sleep(time.Hour)
	return nil
}

// childHolds opens path and starts a process that outlives it.
func childHolds(path, locks string) error {
	s, err := Open(path, Options{LockDir: locks})
	if err != nil {
		return err
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SESSION_TEST_CHILD=sleep")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	fmt.Println("held", c.Process.Pid, s.ID())
	time.Sleep(time.Hour)
	return nil
}
