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
	run  map[string]string // may run until the program ends: path → hash
	live map[string]bool   // edits of these files were approved in this run: later ones need no question
	head string            // .git/HEAD at that time; live is void when it changes, as by a checkout
	last edit              // the last that nobody had approved
}

func newApprovals(h *home) approvals {
	return approvals{home: h, run: map[string]string{}, live: map[string]bool{}}
}

// isApproved reports whether the bytes with this hash may run as the file at path: they are
// approved for this run or in the store. Bytes that cannot be read never are.
func (a *approvals) isApproved(path, sum string) bool {
	if sum == "" || sum == Unreadable {
		return false
	}
	if a.run[path] == sum {
		return true
	}
	store := a.home.store
	return store != nil && (store.Approved(a.home.project, path) == sum || store.Approved(a.home.agentDir, path) == sum || a.isApprovedThere(path, sum))
}

// isOthers reports whether a file of the person's own needs approval as one of a project
// does, because somebody else may change it. A hook that the person names on the command
// line does not.
func isOthers(scope Scope, v Version) bool {
	return v.Others != "" && (scope == ScopeGlobal || scope == ScopeConfig)
}

// approvable returns the hash, by path, that an approval of listed files is for: the one in
// the list, or a later one in force that was accepted since. A file that cannot be read, or
// of which inForce, the versions in force by path, says that there is none, is left out.
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

// noteChanges records changes of the project's files that are not approved, and reports
// whether several files changed at once (see atOnce), which is hardly a person with an
// editor. A file that is gone does not count.
func (a *approvals) noteChanges(changes []change, now time.Time) (crowd bool) {
	for _, c := range changes {
		if !a.home.isProjects(c.scope, c.path) || !c.is.exists() || a.isApproved(c.path, c.is.Sum) {
			continue
		}
		crowd = crowd || a.last.path != "" && a.last.path != c.path && now.Sub(a.last.at) < atOnce
		a.last = edit{c.path, now}
	}
	return crowd
}
