package trust

import "time"

// ProjectFile is one file that approval of a project covers.
type ProjectFile struct {
	Path     string   `json:"path"` // absolute
	SHA256   string   `json:"sha256"`
	Size     int64    `json:"size"`
	Events   []string `json:"events"`            // that it registers, as far as its text says so
	More     bool     `json:"more,omitempty"`    // it may register or require others
	Problem  string   `json:"problem,omitempty"` // why it cannot be approved
	Approved bool     `json:"approved"`
	Own      bool     `json:"own,omitempty"` // of the person, but somebody else may change it
	Code     []byte   `json:"-"`
}

// Question is asked when files of a project are not approved.
type Question struct {
	Project string
	Files   []ProjectFile // all that approval covers
}

// Answer is a person's answer to a Question.
type Answer int

// The answers; only Always and Never are remembered.
const (
	AnswerNo Answer = iota
	AnswerOnce
	AnswerAlways
	AnswerNever
)

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

// isApproved reports whether these bytes of a project's file may run.
func (a *approvals) isApproved(path, sum string) bool {
	if sum == "" || sum == Unreadable {
		return false
	}
	return a.run[path] == sum || a.home.store != nil && (a.home.store.Approved(a.home.project, path) == sum || a.home.store.Approved(a.home.agentDir, path) == sum)
}

// isOthers reports whether a file of the person's own counts as a project's, since
// somebody else may change it. A hook that the person names for one run does not.
func isOthers(scope Scope, v Version) bool {
	return v.Others != "" && (scope == ScopeGlobal || scope == ScopeConfig)
}

// approvable gives the versions of files that an approval is for: those that were
// listed, or a later one that a person accepted since.
func (a *approvals) approvable(files []ProjectFile, inForce map[string]Version) map[string]string {
	sums := map[string]string{}
	for _, f := range files {
		now, read := inForce[f.Path]
		switch {
		case read && !now.exists() || f.SHA256 == Unreadable:
		case read && now.Sum != f.SHA256 && a.run[f.Path] == now.Sum:
			sums[f.Path] = now.Sum
		default:
			sums[f.Path] = f.SHA256
		}
	}
	return sums
}

// edit is when a file was seen to have changed.
type edit struct {
	path string
	at   time.Time
}

// atOnce is the shortest time between two saves of a person. Changes that are closer are
// one step of a program, even if a look found the first before the second.
const atOnce = 2 * time.Second

// noteChanges reports whether several files of the project change at once: that is
// hardly somebody with an editor.
func (a *approvals) noteChanges(changes []change, now time.Time) (crowd bool) {
	for _, c := range changes {
		if c.scope != ScopeProject || !c.is.exists() || a.isApproved(c.path, c.is.Sum) {
			continue
		}
		crowd = crowd || a.last.path != "" && a.last.path != c.path && now.Sub(a.last.at) < atOnce
		a.last = edit{c.path, now}
	}
	return crowd
}
