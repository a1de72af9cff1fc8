package e2e

// Attacks of MCP servers that are alike: a server of the tests that means harm (see mcptest), what
// becomes of a call of one of its tools, and the same call to a good one.

func serverAttacks() map[string]string {
	scripts := map[string]string{}
	for _, row := range hostileServers() {
		scripts["mcp-server-"+row.name] = likeness(hostileServerScript, "TRIED", row.tried, "PROMISED", row.promised,
			"KIND", row.kind, "CALL", row.call, "SAID", row.said, "MORE\n", row.more, "MEGABYTES", row.megabytes())
	}
	return scripts
}

// hostileServerScript calls the tool in the real program. What is kept of what a server sends bounds
// its memory, which the peak says: the program itself takes about 35 MB, and may take 64 more. A server that floods sends 100 MB,
// or as much as it takes to see whether something is kept.
const hostileServerScript = `# tried: an MCP server TRIED
# promised: PROMISED
# attack: it does, while the model calls a tool of it
cp ../evil.json $AGENT/mcp.json
bounded 60 MEGABYTES pi --model demo/tour -p 'call mcp {"call": "t/CALL"}' 'call mcp {"call": "good/echo", "arguments": {"text": "and others go on"}}'
stdout 'SAID'
stdout 'and others go on'
MORE
# control: a good one is called
cp ../good.json $AGENT/mcp.json
bounded 60 MEGABYTES pi --model demo/tour -p 'call mcp {"call": "t/echo", "arguments": {"text": "it says this"}}'
stdout 'it says this'
-- evil.json --
{"mcpServers": {"t": {"command": "mcp-server", "args": ["KIND"], "timeout": 120}, "good": {"command": "mcp-server"}}}
-- good.json --
{"mcpServers": {"t": {"command": "mcp-server", "timeout": 120}}}
`

// hostileServer is a server of mcptest, what the model is told of the call, and what is looked at
// besides.
type hostileServer struct{ name, kind, tried, promised, call, said, more string }

// megabytes are what the program may take.
func (s hostileServer) megabytes() string {
	if s.kind == "many-tools" {
		return "500" // a list is decoded as a whole before it is cut
	}
	return "100"
}

const smallLog = "small $AGENT/mcp.log 5300000\n"

func hostileServers() []hostileServer {
	const flooded, memory = "flooded", "what is kept of it is bounded, and the call gets its answer"
	return []hostileServer{
		{"dies-in-the-beginning", "dies-initializing", "exits when it is spoken to", "it is said how it ended, and nobody waits", "echo", "server t: it ended with status 9", ""},
		{"dies-in-its-list", "dies-listing", "exits when it is asked for its tools", "it is said how it ended, and nobody waits", "echo", "server t: .*it ended with status 9", ""},
		{"dies-with-words", "crash", "exits at once", "its last words are told, without what commands a terminal", "echo", "it wrote: first row / no token in the environment", "! stdout '\\x1b'\n"},
		{"answers-twice", "answers-twice", "answers a call twice", "the first answer counts", "echo", `(?m)^ *one$`, "! stdout '(?m)^ *two$'\n"},
		{"answers-for-others", "answers-otherwise", "gives answers with ids that nobody has asked with", "only the answer to the call counts", "echo", "mine", ""},
		{"answers-nonsense", "answers-nonsense", "answers with what is no result", "that is an error of the call", "echo", "server t: ", ""},
		{"writes-a-line-without-end", "long-line", "writes a gigabyte without an end of line", "no line is longer than 16 MiB", "echo", "it wrote a line longer than 16 MiB", ""},
		{"floods-its-errors", "floods-stderr", "writes 100 MB to its standard error", memory, "echo", flooded, smallLog},
		{"floods-its-output", "floods-stdout", "writes 100 MB that are no messages", memory, "echo", flooded, smallLog},
		{"floods-with-logs", "floods-logs", "sends messages of its log without end", memory, "echo", flooded, smallLog},
		{"floods-with-progress", "floods-progress", "tells of its progress without end", memory, "echo", flooded, ""},
		{"floods-with-changes", "floods-list-changed", "says again and again that its list is another", memory, "echo", flooded, ""},
		{"asks-without-end", "floods-questions", "asks its user again and again", "at most five questions wait; nobody is there to answer one", "echo", flooded, ""},
		{"wants-input-without-end", "needs-input", "wants to be told something first, whenever it is called", "it is asked again three times at most", "echo", "it asked for input 3 times, and once more", ""},
		{"prints-a-banner", "banner", "prints a banner, and log lines between its answers", "what is no message does not end the connection, and is in mcp.log", "echo", "after the banner", "grep 'stdout: Welcome to the server!' $AGENT/mcp.log\n"},
		{"has-a-hundred-thousand-tools", "many-tools", "has 100,000 tools", "10,000 of them are known", "t99999", `server t has no tool "t99999"`, ""},
		{"has-pages-without-end", "counting-pages", "gives one more page of tools each time", "200 pages of them are known", "t201", `server t has no tool "t201"`, ""},
		{"has-pages-in-a-circle", "endless-pages", "gives the same pages again and again", "a page that comes twice is the last", "none", `server t has no tool "none"`, ""},
		{"has-a-schema-of-two-hundred-levels", "deep-schema", "has a tool with a schema 200 deep", "the tool is left out, and the others are there", "flat", "called flat", ""},
		{"has-a-schema-of-ten-thousand-levels", "too-deep-schema", "has a tool with a schema 10,000 deep", "its list cannot be read, which is said at once", "deep", "its answer cannot be read", ""},
		{"names-tools-like-others", "colliding-names", "names its tools like those of the program and like one another", "each has one name, and none that another one has", "a b",
			"called a b", "pi mcp tools t\nstdout '^read '\nask --tools=mcp__t__a_b 'call mcp {\"call\": \"t/a b\"}'\nstdout 'mcp__t__a_b_[0-9a-f]{6} is not among the active ones'\n" +
				"ask --tools=mcp__t__a_b 'call mcp {\"call\": \"t/a_b\"}'\nstdout 'called a_b'\n"},
		{"leaves-a-child", "orphans", "exits and leaves a child behind", "what it started ends with it", "echo", "it has a child",
			"exec sh -c 'for i in $(seq 100); do kill -0 $(cat orphan) 2> /dev/null || exit 0; sleep 0.2; done; exit 1'\n"},
		{"does-not-end", "stubborn", "ends neither with its input nor when it is asked to", "it is killed within three seconds", "echo", "called echo", ""},
	}
}
