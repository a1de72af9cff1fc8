package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/session/message"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func mcpCall(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "call NAME TOOL [ARGUMENTS]", Short: "Call a tool of a server, if your hooks allow it", Args: usageOf(cobra.RangeArgs(2, 3)),
		ValidArgsFunction: firstOnly(serverValues(o)),
		Long: `Calls a tool and prints what it gives. ARGUMENTS is a JSON object; - reads it from
standard input. The call passes the same hooks as one of a model.`,
		Example: `  pi mcp call files read_file '{"path": "a.txt"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := callArguments(args[2:])
			if err != nil {
				return app.UsageError{Err: err}
			}
			endInOrder(o)
			p, err := here(*o)
			if err != nil {
				return err
			}
			result, err := p.CallServer(cmd.Context(), args[0], args[1], arguments, signer())
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(map[string]any{"content": result.Content, "details": result.Details, "is_error": result.IsError})
			} else {
				printContent(result.Content, result.IsError)
			}
			if err == nil && result.IsError {
				err = app.ErrReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// maxArguments bounds what is read from standard input.
const maxArguments = 16 << 20

// callArguments reads the arguments of a call.
func callArguments(args []string) (json.RawMessage, error) {
	text := []byte("{}")
	if len(args) > 0 {
		text = []byte(args[0])
	}
	if string(text) == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(os.Stdin, maxArguments)); err != nil {
			return nil, fmt.Errorf("mcp call: read the arguments: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object == nil {
		return nil, errors.New(`mcp call: the arguments are a JSON object, such as '{"path": "a.txt"}'`)
	}
	return text, nil
}

// printContent writes what a tool gave: its texts, and for what is none what it is. An error goes
// to standard error.
func printContent(content []message.Block, isError bool) {
	to := os.Stdout
	if isError {
		to = os.Stderr
	}
	for _, b := range content {
		text := b.Text
		switch {
		case b.Type != message.BlockText:
			text = fmt.Sprintf("[%s %s]", b.Type, b.MimeType)
		case term.IsTerminal(int(to.Fd())):
			text = printable.Text(text)
		}
		fmt.Fprintln(to, text)
	}
}
