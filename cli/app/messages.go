package app

// messages are for the user, once a front end is there.
type messages struct {
	warnings []string
	notices  []string // of what is in order
}

func (m *messages) warn(lines ...string) { m.warnings = append(m.warnings, lines...) }

func (m *messages) inform(line string) { m.notices = append(m.notices, line) }
