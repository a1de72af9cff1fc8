package trust

import (
	"path/filepath"
	"time"
)

// state is what a Guard knows. Its methods, and those of its parts, are called with
// the mutex of the Guard held.
type state struct {
	home      *home
	ledger    ledger
	approvals approvals
	news      news
	others    programs

	window    *openWindow        // nil while closed
	wrote     bool               // a window, with copies of what it is about
	unwritten error              // why the store does not have the marks of what is held
	doubt     error              // why it cannot be known what was in force; nothing is, until a person decides
	seen      map[string]Version // the files that there are, as they were shown while in doubt
}

// home is where the files are that count, and how they are read.
type home struct {
	project      string // the working directory
	agentDir     string // approvals of what is not of a project stand under it
	store        *Store // nil: nothing outlives the run
	configs      []string
	keys         string          // auth.json, of which the commands count
	instructions []string        // of the agent directory
	named        map[string]bool // hooks that stand alone
	mask         func([]byte) ([]byte, bool)
	places       func() Places
}

// newHome is the home of an agent directory and a project, without a store.
func newHome(o GuardOptions) *home {
	h := &home{project: o.Project, agentDir: o.AgentDir, mask: o.Mask, places: o.Places, named: map[string]bool{}}
	if h.places == nil {
		h.places = func() Places { return Places{AgentDir: o.AgentDir, Cwd: o.Project} }
	}
	h.configs = []string{filepath.Join(o.AgentDir, "config.toml"), filepath.Join(o.Project, ".pi", "config.toml")}
	h.keys = filepath.Join(o.AgentDir, "auth.json")
	for _, name := range []string{"AGENTS.md", "SYSTEM.md", "APPEND_SYSTEM.md"} {
		h.instructions = append(h.instructions, filepath.Join(o.AgentDir, name))
	}
	return h
}

// ledger is which version of each file is in force, and what the disk has instead.
type ledger struct {
	home     *home
	files    map[string]Version   // in force: what was read
	withheld map[string]*withheld // what the disk has instead
	marked   map[string]bool      // what was ever held and marked
	shown    map[string]string    // path → hash of what a person was shown last
	askEdits bool                 // every change is held
}

func newLedger(h *home) ledger {
	return ledger{home: h, files: map[string]Version{}, withheld: map[string]*withheld{}, marked: map[string]bool{}, shown: map[string]string{}}
}

// approvals are the versions of a project's files that may run.
type approvals struct {
	home *home
	run  map[string]string // for this run: path → hash
	live map[string]bool   // files that were edited and approved in this run
	head string            // .git/HEAD when they were
	last edit              // that nobody had approved
}

func newApprovals(h *home) approvals {
	return approvals{home: h, run: map[string]string{}, live: map[string]bool{}}
}

// news is what a person is to be told, and to be asked about.
type news struct {
	lines   []string
	began   []*Pending           // what began to wait
	large   []string             // folders of hooks with too much in them
	unasked []string             // what was told of, by path
	spoken  map[string]time.Time // instructions that changed and were told of
}

// programs are what is known of those beside this one and before it.
type programs struct {
	alive     func(group int) bool
	group     int   // of this program
	inherited []int // process groups that tools of the programs before this one started
	atWork    bool  // tools of other programs may be at work
	toldStore Mark  // of the store
	known     Known // how files have to be while they are, and at a start
}
