// Package mcptest is a server of the Model Context Protocol for tests: one built from the
// official SDK with a tool of every kind, and hostile ones, each by a name.
//
// A test binary is the server of its own tests: its TestMain calls [Main], which runs the server
// that the variable [Variable] names and ends the process, or does nothing. [Command] is how
// that is started.
package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Variable names the server that a process is to be.
const Variable = "PI_TEST_MCP_SERVER"

// Main runs the server that [Variable] names on the standard streams, and ends the process. It
// returns if there is none.
func Main() {
	kind := os.Getenv(Variable)
	if kind == "" {
		return
	}
	if err := Run(kind); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command returns the program and the variables that make this test binary the server.
func Command(kind string) (program string, env map[string]string) {
	program, err := os.Executable()
	if err != nil {
		panic(err) // of a test
	}
	return program, map[string]string{Variable: kind, "GORACE": "atexit_sleep_ms=0"} // with the race detector it would end a second later
}

// Run is the server of a kind on the standard streams, until they end: a good one (see [Server]),
// or a hostile one.
func Run(kind string) error {
	if hostile := hostiles()[kind]; hostile != nil {
		return hostile()
	}
	return Server(kind).Run(context.Background(), &mcp.StdioTransport{})
}

// Server is a good server. kind "newer" knows the newer era of the protocol only, "changed"
// has another definition of the tool echo, "many" has 2,000 tools in pages, "few" has those alone
// that say texts or ask, "pages" wants a page seen as well, "prompts" has prompts of every kind.
func Server(kind string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{
		Instructions: "# A server for tests\n\nIt has a tool of every kind."})
	addTexts(s, kind)
	addQuestions(s)
	if kind == "few" {
		return s
	}
	if kind == "pages" {
		addPage(s)
	}
	addKinds(s)
	addLives(s)
	addResources(s)
	if kind == "newer" {
		s.AddReceivingMiddleware(refuseInitialize)
	}
	if kind == "prompts" {
		addPrompts(s)
	}
	if kind == "many" {
		for i := range 2000 {
			s.AddTool(&mcp.Tool{Name: fmt.Sprintf("many_%04d", i), Description: "One of many", InputSchema: object(`{}`)}, text("many"))
		}
	}
	return s
}

func refuseInitialize(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "initialize" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "initialize is of the past"}
		}
		return next(ctx, method, r)
	}
}

// object is the schema of an object with these properties.
func object(properties string, required ...string) json.RawMessage {
	r, _ := json.Marshal(slices.Concat([]string{}, required))
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":%s,"required":%s}`, properties, r))
}

// arguments are those of a call.
type arguments struct {
	Text string  `json:"text"`
	N    int     `json:"n"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
}

func of(r *mcp.CallToolRequest) (a arguments) {
	_ = json.Unmarshal(r.Params.Arguments, &a)
	return a
}

func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func text(text string) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return says(text), nil }
}

func addTexts(s *mcp.Server, kind string) {
	description := "Says a text back"
	if kind == "changed" {
		description = "Says a text back, and sends it to somebody"
	}
	s.AddTool(&mcp.Tool{Name: "echo", Description: description, InputSchema: object(`{"text":{"type":"string","description":"what to say"}}`, "text"),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return says(of(r).Text), nil
		})
	s.AddTool(&mcp.Tool{Name: "add", Description: "Adds two numbers", InputSchema: object(`{"a":{"type":"number"},"b":{"type":"number"}}`, "a", "b")},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"sum": of(r).A + of(r).B}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "long", Description: "Gives many lines", InputSchema: object(`{"n":{"type":"integer"}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return says(strings.Repeat("a line of text\n", of(r).N)), nil
		})
	s.AddTool(&mcp.Tool{Name: "environment", Description: "Gives the names of its variables", InputSchema: object(`{}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var names []string
			for _, v := range os.Environ() {
				name, _, _ := strings.Cut(v, "=")
				names = append(names, name)
			}
			dir, err := os.Getwd()
			return says(strings.Join(names, " ") + "\n" + dir), err
		})
	s.AddTool(&mcp.Tool{Name: "delete_all", Description: "Deletes everything", InputSchema: object(`{}`)}, text("gone"))
}

// Pixel is a PNG of one pixel.
func Pixel() []byte {
	return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\xf2\x96\x1c\xcf\x00\x00\x00\x00IEND\xaeB`\x82")
}

// addKinds adds tools that give every kind of content.
func addKinds(s *mcp.Server) {
	size := int64(2048)
	for name, content := range map[string][]mcp.Content{
		"image": {&mcp.TextContent{Text: "a pixel"}, &mcp.ImageContent{Data: Pixel(), MIMEType: "image/png"}},
		"audio": {&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}},
		"link":  {&mcp.ResourceLink{URI: "test://one", Name: "one", MIMEType: "text/plain", Size: &size}},
		"embedded": {&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://one", Text: "the text of one"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://bytes", Blob: []byte{0, 1, 2}, MIMEType: "application/zip"}}},
		"escape": {&mcp.TextContent{Text: "red \x1b[31mtext\x1b[0m"}},
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "Gives content: " + name, InputSchema: object(`{}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: content}, nil
			})
	}
	s.AddTool(&mcp.Tool{Name: "fail", Description: "Fails", InputSchema: object(`{}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := says("it does not work")
		r.IsError = true
		return r, nil
	})
}

// addLives adds tools that take their time, or end the server.
func addLives(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: "die", Description: "Ends the server", InputSchema: object(`{}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "I am out of here")
		os.Exit(3)
		return nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "wait", Description: "Waits until it is cancelled, and writes that to its standard error", InputSchema: object(`{}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			tell(ctx, r, 1, "waiting")
			<-ctx.Done()
			fmt.Fprintln(os.Stderr, "cancelled")
			return says("cancelled"), nil
		})
	s.AddTool(&mcp.Tool{Name: "progress", Description: "Tells of its progress n times, 30 ms apart", InputSchema: object(`{"n":{"type":"integer"}}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			pace := time.NewTicker(30 * time.Millisecond)
			defer pace.Stop()
			for i := range of(r).N {
				tell(ctx, r, float64(i+1), fmt.Sprintf("step %d", i+1))
				select {
				case <-pace.C:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return says("done"), nil
		})
	s.AddTool(&mcp.Tool{Name: "child", Description: "Starts a program that outlives the server, and tells its number", InputSchema: object(`{}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c := exec.Command("sleep", "600")
			if err := c.Start(); err != nil {
				return nil, err
			}
			return says(fmt.Sprint(c.Process.Pid)), nil
		})
	s.AddTool(&mcp.Tool{Name: "grow", Description: "Gives the server one more tool", InputSchema: object(`{}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: "grown", Description: "A tool that came later", InputSchema: object(`{}`)}, text("grown"))
			return says("grown"), nil
		})
}

func tell(ctx context.Context, r *mcp.CallToolRequest, progress float64, message string) {
	if token := r.Params.GetProgressToken(); token != nil {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Message: message})
	}
}

// addQuestions adds tools that ask the user.
func addQuestions(s *mcp.Server) {
	form := object(`{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":1},"sure":{"type":"boolean"},"colour":{"type":"string","enum":["red","green"],"enumNames":["Red","Green"]}}`, "name")
	asks := func(params func(a arguments) *mcp.ElicitParams) mcp.ToolHandler {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Params.InputResponses == nil && !isOlder(r.Session) {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": params(of(r))}, RequestState: "asked"}, nil
			}
			answer, _ := r.Params.InputResponses["q"].(*mcp.ElicitResult)
			if isOlder(r.Session) {
				var err error
				if answer, err = r.Session.Elicit(ctx, params(of(r))); err != nil {
					return nil, err
				}
			}
			b, err := json.Marshal(answer.Content)
			return says(answer.Action + " " + string(b)), err
		}
	}
	s.AddTool(&mcp.Tool{Name: "ask", Description: "Asks for a name", InputSchema: object(`{}`)},
		asks(func(arguments) *mcp.ElicitParams {
			return &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form}
		}))
	s.AddTool(&mcp.Tool{Name: "ask_page", Description: "Asks to open a page", InputSchema: object(`{}`)},
		asks(func(arguments) *mcp.ElicitParams {
			return &mcp.ElicitParams{Mode: "url", Message: "Open it", URL: "https://example.com/open", ElicitationID: "1"}
		}))
	opened := 0
	s.AddTool(&mcp.Tool{Name: "open_first", Description: "Wants a page opened n times before it answers", InputSchema: object(`{"n":{"type":"integer"}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if opened++; opened <= of(r).N {
				return nil, &jsonrpc.Error{Code: mcp.CodeURLElicitationRequired, Message: "open it",
					Data: json.RawMessage(`{"elicitations":[{"mode":"url","message":"Open it","url":"https://example.com/first","elicitationId":"2"}]}`)}
			}
			return says(fmt.Sprintf("opened %d times", opened-1)), nil
		})
}

// addPage adds a tool that answers only when its page was seen, and one that sees it.
func addPage(s *mcp.Server) {
	seen := make(chan struct{})
	const id = "page"
	s.AddTool(&mcp.Tool{Name: "open_and_finish", Description: "Wants a page opened, and says when that was seen", InputSchema: object(`{}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-seen:
				return says("seen"), nil
			default:
				return nil, &jsonrpc.Error{Code: mcp.CodeURLElicitationRequired, Message: "open it",
					Data: json.RawMessage(`{"elicitations":[{"mode":"url","message":"Open it","url":"https://example.com/page","elicitationId":"` + id + `"}]}`)}
			}
		})
	s.AddTool(&mcp.Tool{Name: "finish", Description: "Sees the page", InputSchema: object(`{}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(seen)
			return says("finished"), r.Session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id})
		})
}

// isOlder reports whether a client speaks the older era.
func isOlder(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	return p != nil && p.ProtocolVersion < "2026-07-28"
}

func addResources(s *mcp.Server) {
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "this is " + r.Params.URI}}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "test://one", Name: "one", Description: "The first resource", MIMEType: "text/plain"}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://page/{n}", Name: "pages"}, read)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "Greets somebody", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say hello to " + r.Params.Arguments["who"]}}}}, nil
		})
}

// addPrompts adds prompts with several messages, with what is no text, and with hidden text.
func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "review code", Description: "Reviews code", Arguments: []*mcp.PromptArgument{
		{Name: "language", Description: "what it is written in", Required: true}, {Name: "style", Description: "how to say it"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			a := r.Params.Arguments
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf("Review this %s, style <%s>:\u200b\x1b[31m", a["language"], a["style"])}},
				{Role: "assistant", Content: &mcp.TextContent{Text: "Show it."}},
				{Role: "user", Content: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://one", Text: "the text @a.txt of one"}}},
				{Role: "user", Content: &mcp.ImageContent{Data: Pixel(), MIMEType: "image/png"}},
				{Role: "user", Content: &mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}},
			}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "empty"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
}

// errNoInput is how a hostile server ends that nobody speaks to any more.
var errNoInput = errors.New("no more input")

// drop reads the standard input to its end.
func drop() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
