package compaction

import (
	"encoding/json"
	"slices"

	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// FileOps are the files that tool calls touched, each path once, in order of
// first use.
type FileOps struct{ Read, Written, Edited []string }

// fileDetails is how the details of compactions and branch summaries name files.
type fileDetails struct {
	ReadFiles     []string `json:"readFiles"`
	ModifiedFiles []string `json:"modifiedFiles"`
}

// FilesOf collects the files of the calls read, write and edit, and those that
// the summaries of branches among the items name.
func FilesOf(items []session.Item) FileOps {
	var f FileOps
	for _, it := range items {
		for i := range it.Message.Content {
			f.addCall(&it.Message.Content[i])
		}
		if it.Entry != nil && it.Entry.Type == session.TypeBranchSummary {
			f = f.With(ParseDetails(rawjson.Field(it.Entry.Raw(), "details")))
		}
	}
	return f.With(FileOps{})
}

// addCall adds the file of a call of read, write or edit.
func (f *FileOps) addCall(b *message.Block) {
	if b.Type != message.BlockToolCall {
		return
	}
	var list *[]string
	switch b.Name {
	case "read":
		list = &f.Read
	case "write":
		list = &f.Written
	case "edit":
		list = &f.Edited
	default:
		return
	}
	if path := rawjson.Unquote(rawjson.Field(b.Arguments, "path")); path != "" {
		*list = append(*list, path)
	}
}

// With returns the lists of both, each path once; those of f come first.
func (f FileOps) With(g FileOps) FileOps {
	return FileOps{Read: union(f.Read, g.Read), Written: union(f.Written, g.Written), Edited: union(f.Edited, g.Edited)}
}

// union is what the lists have, each string once, in order of first use.
func union(lists ...[]string) []string {
	var all []string
	known := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			if !known[s] {
				known[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

// Modified are the files that were written or edited.
func (f FileOps) Modified() []string { return union(f.Written, f.Edited) }

// OnlyRead are the files that were read and not modified.
func (f FileOps) OnlyRead() []string {
	modified := f.Modified()
	return slices.DeleteFunc(slices.Clone(f.Read), func(path string) bool { return slices.Contains(modified, path) })
}

// Details is how the lists stand in the details of a compaction or a branch
// summary. A file that was modified is not listed as read.
func (f FileOps) Details() json.RawMessage {
	d, err := rawjson.Encode(fileDetails{append([]string{}, f.OnlyRead()...), append([]string{}, f.Modified()...)})
	if err != nil {
		return nil
	}
	return d
}

// ParseDetails reads the lists in the details of a compaction or a branch
// summary, whoever wrote it. Modified files count as edited; a value that is no list
// of paths is left out.
func ParseDetails(details json.RawMessage) FileOps {
	return FileOps{Read: paths(rawjson.Field(details, "readFiles")), Edited: paths(rawjson.Field(details, "modifiedFiles"))}
}

// paths reads a JSON list of paths; other elements are left out.
func paths(list []byte) []string {
	var all []string
	for v := range rawjson.Elements(list) {
		if path := rawjson.Unquote(v); path != "" {
			all = append(all, path)
		}
	}
	return union(all)
}

// previousFiles are the files that the details of the compaction in force name.
func previousFiles(branch []*session.Entry) FileOps {
	at, _ := session.LastCompaction(branch)
	if at < 0 {
		return FileOps{}
	}
	return ParseDetails(rawjson.Field(branch[at].Raw(), "details"))
}
