package cli

import (
	"fmt"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"

	"github.com/spf13/cobra"
)

func sessionsShow(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show FILE|ID", Short: "Show a session without changing it", Args: exactly(1),
		ValidArgsFunction: firstOnly(orFiles(sessionValues(o))),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readNamed(*o, args[0])
			if err != nil {
				return err
			}
			defer func() { tell(s.Problems()...) }() // bodies are read as they are shown
			if !asJSON {
				return printConversation(s)
			}
			raw, err := s.Show()
			if err == nil {
				_, err = fmt.Fprintf(forPrograms(), "%s\n", raw)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: what a model would see, before hooks")
	return c
}

// readNamed reads the session that ref names, without changing it, and writes to standard
// error what is wrong with its file.
func readNamed(o app.Options, ref string) (*session.Session, error) {
	p, err := here(o)
	if err != nil {
		return nil, err
	}
	path, err := p.Sessions().FindExisting(ref)
	if err != nil {
		return nil, err
	}
	s, err := session.Read(path)
	if err != nil {
		return nil, app.SessionError{Err: err}
	}
	tell(s.Problems()...)
	return s, nil
}

// printConversation prints the conversation of a session as text.
func printConversation(s *session.Session) error {
	model := "none"
	if provider, id := s.Model(); id != "" {
		model = provider + "/" + id
	}
	fmt.Printf("session %s\ncwd     %s\nmodel   %s\nentries %d\n", s.ID(), printable.Text(s.Cwd()), printable.Text(model), len(s.Entries()))
	if line := s.UnknownTypes(nil); line != "" {
		tell(line)
	}
	for _, item := range s.Context() {
		fmt.Printf("\n[%s]\n%s\n", item.Message.Role, printable.Text(shownText(item.Message)))
	}
	for i, e := range s.Unreached() { // at the beginning of the file, because a line between is broken
		if i == 0 {
			fmt.Print("\nnot reached from there:\n")
		}
		if m := e.Message(); m != nil {
			fmt.Printf("\n[%s, not reached]\n%s\n", m.Role, printable.Text(shownText(m)))
		}
	}
	return nil
}

// shownText returns a message as text: what was said, the tool calls, and the error, if it
// failed.
func shownText(m *message.Message) string {
	switch m.Role {
	case message.RoleBashExecution:
		return "$ " + m.Command + "\n" + m.Output
	case message.RoleBranchSummary, message.RoleCompactionSummary:
		return m.Summary
	}
	var parts []string
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			parts = append(parts, b.Text)
		case message.BlockToolCall:
			parts = append(parts, fmt.Sprintf("→ %s %s", b.Name, b.Arguments))
		case message.BlockImage:
			parts = append(parts, "[image "+b.MimeType+"]")
		}
	}
	if m.ErrorMessage != "" {
		parts = append(parts, "("+m.ErrorMessage+")")
	}
	return strings.Join(parts, "\n")
}
