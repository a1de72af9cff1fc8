package session

import (
	"encoding/json"
	"slices"
)

// GitBranch returns the branch of git that the conversation was on last, as far as its
// branch records it; "" if it does not.
func (s *Session) GitBranch() string {
	for _, e := range slices.Backward(s.Branch()) {
		if name, ok := e.OnGitBranch(); ok {
			return name
		}
	}
	return ""
}

// OnGitBranch returns the name of the branch of git that the entry records; false if it
// records none.
func (e *Entry) OnGitBranch() (name string, ok bool) {
	if !e.isOwn(GitBranch) {
		return "", false
	}
	body, err := Body[struct{ Data OnGitBranch }](e)
	if err != nil {
		return "", false
	}
	return body.Data.Name, true
}

// RecordGitBranch appends which branch of git the directory is on, unless it is on none or
// the branch of the session says so already.
func (s *Session) RecordGitBranch() error {
	if s.opts.GitBranch == nil {
		return nil
	}
	name := s.opts.GitBranch()
	if name == "" || name == s.GitBranch() {
		return nil
	}
	data, err := json.Marshal(OnGitBranch{name})
	if err == nil {
		_, err = s.Append(TypeCustom, Custom{CustomType: GitBranch, Data: data})
	}
	return err
}
