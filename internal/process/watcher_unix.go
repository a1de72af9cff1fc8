//go:build unix

package process

import (
	"cmp"
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// watch is what a watcher runs. Descriptor 3 is the pipe: each line of it is all that there is,
// the numbers of groups and, with a "=" in them, the labels of commands that are being started;
// of a line without an end nothing is believed. Where /proc tells of which session a process
// is, the groups that a command made inside of its session are ended behind those that are
// known; each is sent a signal once. In a stat, what follows the name of the process, which may
// have anything in it, is its state, its parent, its group and its session. The 2 seconds are
// [Grace].
const watch = `trap '' HUP INT TERM
while read -r line; do told=$line; done <&3
[ "$told" ] || exit 0
look() {
	last= ; while read -r line; do last=$line; done <$1
	set -- ${last##*)}; group=$3 session=$4
}
hit() {
	case "$groups " in *" $2 "*) return ;; esac
	groups="$groups $2"; kill -s $1 -- -$2; kill -s CONT -- -$2
}
end() {
	groups= sessions=
	for word in $told; do case $word in
		*=*) for at in $(grep -ls $word /proc/[0-9]*/environ); do look ${at%environ}stat; sessions="$sessions $session"; done ;;
		*) sessions="$sessions $word" ;;
	esac; done
	for session in $sessions; do hit $1 $session; done
	for stat in /proc/[0-9]*/stat; do
		look $stat
		case "$sessions " in *" ${session:-none} "*) hit $1 $group ;; esac
	done
}
sleep 2 & end TERM; wait
end KILL`

// Watcher ends what this program has started, should this program be killed: a shell in a
// session of its own that reads from a pipe which groups there are, and at the end of the
// pipe, however that came about, sends TERM to them and after 2 s KILL. It is begun with the
// first command. The zero value is ready for use, and nil watches nothing. All methods may be
// called from any goroutine.
type Watcher struct {
	// Instead is told of all groups whenever they change and there is no watcher because none
	// can be started; nil: nobody is. It is called by one goroutine at a time.
	Instead func(groups []int)

	testOnlyShell string // in place of /bin/sh

	mu       sync.Mutex // guards what follows
	starting []string   // labels of commands that have no number yet
	running  []int      // groups whose first process has not ended
	left     []int      // groups of which that has left something behind
	shell    *exec.Cmd  // nil: there is none
	pipe     *os.File   // to it; no command inherits this end
}

// Start starts a command that is to lead a group or a session. The watcher is there before it
// and knows of it: until it is told of the group it finds the command, where it can, by a
// variable that no other has.
func (w *Watcher) Start(cmd *exec.Cmd) error {
	if w == nil {
		return cmd.Start()
	}
	label := CommandID + "=" + rand.Text()
	cmd.Env = append(cmd.Environ(), label)
	w.prepare(label)
	err := cmd.Start()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starting = slices.DeleteFunc(w.starting, func(other string) bool { return other == label })
	if err == nil {
		w.forget(cmd.Process.Pid) // a number that came back
		w.running = append(w.running, cmd.Process.Pid)
	}
	w.tell()
	return err
}

// prepare tells the watcher, which it begins if there is none, of a command that is about to
// start.
func (w *Watcher) prepare(label string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	w.starting = append(w.starting, label)
	w.tell()
}

// End is called when the first process of a group has ended. What that has left behind ends with
// this program.
func (w *Watcher) End(group int) {
	if w == nil {
		return
	}
	alive := Alive(group)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch known := w.forget(group); {
	case known && alive:
		w.left = append(w.left, group) // of which the watcher knows
	case known:
		w.tell()
	}
}

// Release is End, but what is left goes on without this program.
func (w *Watcher) Release(group int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forget(group) {
		w.tell()
	}
}

// Look forgets the groups that were left and have no process any more, so that whoever gets
// their number is not taken for them.
func (w *Watcher) Look() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.look() {
		w.tell()
	}
}

// Close ends what is left, and the watcher, unless commands still run: then it ends them, when
// this program has ended.
func (w *Watcher) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	var ends sync.WaitGroup
	for _, group := range w.left {
		ends.Go(func() { Stop(group, Grace) })
	}
	ends.Wait()
	if len(w.left) > 0 {
		w.left = nil
		w.tell()
	}
	if len(w.starting)+len(w.running) == 0 {
		w.drop()
	}
}

// tellTime is how long a watcher may take to read; then it counts as gone.
const tellTime = 100 * time.Millisecond

// forget reports whether a group was known.
func (w *Watcher) forget(group int) bool {
	n := len(w.running) + len(w.left)
	is := func(other int) bool { return other == group }
	w.running, w.left = slices.DeleteFunc(w.running, is), slices.DeleteFunc(w.left, is)
	return len(w.running)+len(w.left) < n
}

// look is Look; it reports whether that changed anything.
func (w *Watcher) look() bool {
	n := len(w.left)
	w.left = slices.DeleteFunc(w.left, func(group int) bool { return !Alive(group) })
	return len(w.left) < n
}

// tell tells the watcher of all groups. One that cannot be told is replaced.
func (w *Watcher) tell() {
	if w.shell != nil {
		_ = w.pipe.SetWriteDeadline(time.Now().Add(tellTime))
		if _, err := w.pipe.Write(w.line()); err == nil {
			return
		}
		w.drop()
	}
	if len(w.starting)+len(w.running)+len(w.left) > 0 {
		w.start()
	}
	if w.shell == nil && w.Instead != nil {
		w.Instead(slices.Concat(w.running, w.left))
	}
}

// line is what the watcher is told.
func (w *Watcher) line() (line []byte) {
	for _, group := range slices.Concat(w.running, w.left) {
		line = append(strconv.AppendInt(line, int64(group), 10), ' ')
	}
	return append(append(line, strings.Join(w.starting, " ")...), '\n')
}

// start starts a watcher, for which a line is there before it can read.
func (w *Watcher) start() {
	r, pipe, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	shell := exec.Command(cmp.Or(w.testOnlyShell, "/bin/sh"), "-c", watch, "pi-watcher")
	shell.Dir, shell.ExtraFiles = "/", []*os.File{r}
	shell.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin:" + os.Getenv("PATH")}
	Session(shell)
	if _, err := pipe.Write(w.line()); err != nil || shell.Start() != nil {
		pipe.Close()
		return
	}
	w.shell, w.pipe = shell, pipe
}

// drop ends the watcher, and nothing else: it is killed before it could read the end of the
// pipe.
func (w *Watcher) drop() {
	if w.shell == nil {
		return
	}
	_ = w.shell.Process.Kill()
	_ = w.shell.Wait()
	_ = w.pipe.Close()
	w.shell, w.pipe = nil, nil
}
