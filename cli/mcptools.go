package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"pi/agent/mcp"
	"pi/cli/app"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

func mcpTools(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "tools NAME [TOOL]", Short: "List the tools of a server, or tell what a call of one wants", Args: usageOf(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: firstOnly(serverValues(o)),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := openMCP(o)
			if err != nil {
				return err
			}
			defer m.servers.Close()
			if _, err := m.entry(args[0]); err != nil {
				return err
			}
			tools, resources, prompts, err := m.servers.Definitions(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				if tools, err = oneTool(tools, args[1]); err != nil {
					return err
				}
				resources, prompts = nil, nil
			}
			switch {
			case asJSON:
				return printJSON(listTools(tools, resources, prompts))
			case len(args) == 2:
				return printTool(&tools[0])
			}
			printTools(tools, resources, prompts)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, with the schemas of arguments")
	return c
}

// oneTool returns the tool of a name, as `pi mcp call` or a hook has it, alone.
func oneTool(tools []mcp.Tool, name string) ([]mcp.Tool, error) {
	var names []string
	for i := range tools {
		if tools[i].Tool == name || tools[i].Name == name {
			return tools[i : i+1], nil
		}
		names = append(names, tools[i].Tool)
	}
	return nil, app.UsageError{Err: fmt.Errorf("there is no tool %q%s", name, hintOf(name, names))}
}

// listedTools are what a server has, in `pi mcp tools --json`.
type listedTools struct {
	Tools     []listedTool     `json:"tools"`
	Resources []listedResource `json:"resources"`
	Prompts   []listedPrompt   `json:"prompts"`
}

type listedTool struct {
	Name        string          `json:"name"`     // at the server, as `pi mcp call` has it
	ToolName    string          `json:"toolName"` // as hooks have it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Exposure    mcp.Exposure    `json:"exposure"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

type listedResource struct {
	URI         string `json:"uri"`
	Template    bool   `json:"template,omitempty"` // it has parts in braces
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

type listedPrompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []listedArgument `json:"arguments"`
}

type listedArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`
}

// listTools is what `pi mcp tools --json` prints.
func listTools(tools []mcp.Tool, resources []mcp.Resource, prompts []mcp.Prompt) listedTools {
	listed := listedTools{Tools: []listedTool{}, Resources: []listedResource{}, Prompts: []listedPrompt{}}
	for _, t := range tools {
		listed.Tools = append(listed.Tools, listedTool{Name: t.Tool, ToolName: t.Name, Title: t.Title, Description: t.Description, Exposure: t.Exposure, InputSchema: t.Schema})
	}
	for _, r := range resources {
		listed.Resources = append(listed.Resources, listedResource{URI: r.URI, Template: r.Template, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType})
	}
	for _, p := range prompts {
		one := listedPrompt{Name: p.Name, Title: p.Title, Description: p.Description, Arguments: []listedArgument{}}
		for _, a := range p.Arguments {
			one.Arguments = append(one.Arguments, listedArgument(a))
		}
		listed.Prompts = append(listed.Prompts, one)
	}
	return listed
}

// printTools writes what a server has for people. A name that is very long pushes its row alone.
func printTools(tools []mcp.Tool, resources []mcp.Resource, prompts []mcp.Prompt) {
	const usual, most = 16, 40
	width := usual
	for _, t := range tools {
		if n := len(t.Tool); n <= most {
			width = max(width, n)
		}
	}
	for _, t := range tools {
		fmt.Printf("%-*s %-6s %s\n", width, printable.VisibleLine(t.Tool), t.Exposure, printable.VisibleLine(printable.FirstLine(t.Description, 90)))
	}
	for _, r := range resources {
		fmt.Printf("%-*s %-6s %s\n", width, "resource", "", printable.VisibleLine(r.URI+"  "+printable.FirstLine(r.Description, 60)))
	}
	for _, p := range prompts {
		fmt.Printf("%-*s %-6s %s\n", width, "prompt", "", printable.VisibleLine(p.Name+"  "+printable.FirstLine(p.Description, 60)))
	}
}

// printTool writes what there is to know of a tool for people.
func printTool(t *mcp.Tool) error {
	var schema bytes.Buffer
	if err := json.Indent(&schema, t.Schema, "", "  "); err != nil {
		return fmt.Errorf("the schema of %s: %w", t.Tool, err)
	}
	title := printable.VisibleLine(t.Tool)
	if t.Title != "" && t.Title != t.Tool {
		title += " (" + printable.VisibleLine(t.Title) + ")"
	}
	fmt.Printf("%s\nexposure %s; for hooks it is %s\n\n", title, t.Exposure, t.Name)
	if t.Description != "" {
		fmt.Printf("%s\n\n", printable.Text(t.Description))
	}
	fmt.Printf("Arguments, as JSON Schema:\n%s\n", printable.Text(schema.String()))
	return nil
}
