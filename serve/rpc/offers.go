package rpc

import (
	"path/filepath"

	"pi/agent/command"
)

// offered is a command as get_commands lists it.
type offered struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source"`
	Info        sourceInfo `json:"sourceInfo"`
}

// sourceInfo says where a command comes from.
type sourceInfo struct {
	Path   string `json:"path"`
	Source string `json:"source"`
	Scope  string `json:"scope"`
	Origin string `json:"origin"`
	Dir    string `json:"baseDir,omitempty"`
}

// offers is the data of get_commands: those of hooks, then templates, then skills. Those
// of the program are not for a client.
func (s *readings) offers() any {
	var hooks, templates, skills []offered
	for _, c := range s.commands.All() {
		o := offered{Name: c.Name, Description: c.Help, Info: infoOf(c.From)}
		switch c.Kind() {
		case "hook":
			o.Source = "extension"
			hooks = append(hooks, o)
		case "skill":
			o.Source = "skill"
			skills = append(skills, o)
		case "template":
			o.Source = "prompt"
			templates = append(templates, o)
		}
	}
	list := append(append(append([]offered{}, hooks...), templates...), skills...)
	return struct {
		Commands []offered `json:"commands"`
	}{list}
}

// infoOf says in the words of the protocol where a command comes from.
func infoOf(from command.Provenance) sourceInfo {
	info := sourceInfo{Path: from.Path, Source: "auto", Scope: "user", Origin: "top-level"}
	if from.Path != "" {
		info.Dir = filepath.Dir(from.Path)
	}
	switch {
	case from.Named:
		info.Source, info.Scope = "cli", "temporary"
	case from.OfProject:
		info.Scope = "project"
	}
	return info
}
