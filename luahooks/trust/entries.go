package trust

import (
	"slices"
)

// What the settings of a project say of its hooks is as good as code of them, so it is approved
// with them: not the file, whose other settings change as they like, but the text that these
// entries come to.

// SettingsFiles are the files in which the settings stand that decide about hooks: of the user,
// and of the project.
func (g *Guard) SettingsFiles() []string { return slices.Clone(g.state.home.configs) }

// entriesIn returns the entries in a version of the project's settings, and their hash; "" if
// there are none.
func (h *home) entriesIn(v Version) (text []byte, sum string) {
	if h.entries == nil || v.Code == nil {
		return nil, ""
	}
	if text = h.entries(v.Code); text == nil {
		return nil, ""
	}
	return text, Sum(text)
}

// projectSettings is the settings file of the project; "" if the guard knows of none.
func (h *home) projectSettings() string {
	if len(h.configs) < 2 {
		return ""
	}
	return h.configs[1]
}

// entriesFile describes the entries of the project's settings that are active, for the question
// whether they count; false if there are none.
func (g *Guard) entriesFile() (ProjectFile, bool) {
	s := g.lock()
	defer g.mu.Unlock()
	path := s.home.projectSettings()
	if path == "" {
		return ProjectFile{}, false
	}
	text, sum := s.home.entriesIn(s.readLocked(path))
	if sum == "" {
		return ProjectFile{}, false
	}
	return ProjectFile{Path: path, SHA256: sum, Size: int64(len(text)), Events: []string{}, Code: text, Entries: true,
		Approved: s.approvals.isApproved(path, sum), By: s.approvals.approvedBy(path, sum)}, true
}

// approveEntries approves the entries in a version of a file that a user saw, if that is the project's
// settings and they are not approved.
func (s *state) approveEntries(path string, v Version) error {
	if path != s.home.projectSettings() {
		return nil
	}
	_, sum := s.home.entriesIn(v)
	if sum == "" || s.approvals.isApproved(path, sum) {
		return nil
	}
	return s.approve(path, sum)
}

// MayUseEntries reports whether what the project's settings say of its hooks is approved as it is
// active. It is if they say nothing.
func (g *Guard) MayUseEntries() bool {
	f, ok := g.entriesFile()
	return !ok || f.Approved
}

// approvedSum is the hash by which a file is approved, of what is on the disk at this moment.
func (h *home) approvedSum(f ProjectFile) string {
	v := onDisk(f.Path)
	if !f.Entries {
		return v.Sum
	}
	_, sum := h.entriesIn(v)
	return sum
}

// approvedBy returns the hook that approved a version of a file of the project; "" if a user did, or
// nobody.
func (g *Guard) approvedBy(path, sum string) string {
	s := g.lock()
	defer g.mu.Unlock()
	return s.approvals.approvedBy(path, sum)
}
