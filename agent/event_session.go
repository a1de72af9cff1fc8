package agent

import (
	"encoding/json"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// ProjectTrust asks whether files of a project may run as hooks, or count as MCP servers. Only hooks
// that do not come from the project are asked; the first answer counts.
type ProjectTrust struct {
	Cwd      string
	Files    []TrustFile
	Refused  bool            // result
	Trusted  map[string]bool // result: the hashes that are accepted; nil without an answer
	Remember bool            // result: they are accepted in later runs too
	By       string          // result: the hook that answered
}

// TrustFile is one file that would run, or decide what does.
type TrustFile struct {
	Path     string
	SHA256   string // hexadecimal
	Size     int64
	Kind     TrustKind
	Servers  []string // of TrustServers: rows that describe them
	Packages []string // of TrustPackages: likewise
}

// TrustKind is what a TrustFile is.
type TrustKind string

const (
	TrustHook     TrustKind = "hook"     // or a module of one
	TrustServers  TrustKind = "servers"  // it names MCP servers
	TrustProgram  TrustKind = "program"  // an MCP server is made of it
	TrustPackages TrustKind = "packages" // it names packages
	TrustAgent    TrustKind = "agent"    // it defines an agent
	TrustEntries  TrustKind = "entries"  // what the project's settings say of its hooks
)

// AppStart comes when configuration and hooks are loaded and no session exists.
type AppStart struct{}

// SessionDirectory asks where sessions are kept. The last answer counts.
type SessionDirectory struct {
	Cwd string
	Dir string // result
}

// SessionStart comes when a session has become the current one.
type SessionStart struct {
	Reason              string // startup reload new resume branch agent
	SessionID           string
	SessionFile         string
	PreviousSessionFile string
}

// SessionBeforeSwitch asks before another session becomes the current one.
type SessionBeforeSwitch struct {
	Reason            string // new resume
	TargetSessionFile string
	Cancel            bool // result
}

// SessionSwitch comes when the session was replaced by an empty or a resumed one.
type SessionSwitch struct{ Reason, PreviousSessionFile string }

// SessionBeforeNew asks before an empty session becomes the current one.
type SessionBeforeNew struct {
	SessionID string // of the session that would be left
	Cancel    bool   // result
}

// SessionNew comes behind it for an empty session.
type SessionNew struct{ SessionID string }

// SessionBeforeBranch asks before the path to an entry becomes a session of its
// own.
type SessionBeforeBranch struct {
	EntryID                 string
	EntryIndex              int  // position on the branch, from 0
	Cancel                  bool // result
	SkipConversationRestore bool // result
}

// SessionBranch comes when the session was replaced by a copy of one of its paths.
type SessionBranch struct{ PreviousSessionFile string }

// Preparation is what a compaction would do.
type Preparation struct {
	FirstKeptEntryID    string
	FirstKeptEntryIndex int // position on the branch, from 0
	MessagesToSummarize []session.Item
	TurnPrefixMessages  []session.Item
	IsSplitTurn         bool
	TokensBefore        int
	PreviousSummary     string
	FileOps             compaction.FileOps
	Settings            CompactionSettings
}

// CompactionSettings are those of the configuration.
type CompactionSettings = compaction.Settings

// SessionBeforeCompact asks before the context is shortened. Listeners may
// cancel or bring the summary.
type SessionBeforeCompact struct {
	Preparation        Preparation
	BranchEntries      []*session.Entry
	Messages           []session.Item
	CustomInstructions string
	Model              *llm.Model
	Reason             string // manual threshold overflow
	WillRetry          bool

	Cancel     bool             // result
	Compaction *CompactionDraft // result; an empty FirstKeptEntryID and TokensBefore 0 are those of Preparation
}

// CompactionDraft is a summary that a hook brings.
type CompactionDraft struct {
	Summary          string
	FirstKeptEntryID string
	TokensBefore     int
	Details          json.RawMessage
	By               string // the hook
}

// SessionCompacting asks what the summary of a compaction is made with.
type SessionCompacting struct {
	SessionID    string
	Messages     []session.Item
	Context      []string                   // result: added to the prompt, joined
	Prompt       string                     // result: replaces it, the last one counts
	PreserveData map[string]json.RawMessage // result: kept in the details, merged
}

// SessionCompact comes when a compaction is in the session.
type SessionCompact struct {
	Entry     *session.Entry
	Summary   string
	FromHook  bool
	Reason    string
	WillRetry bool
}

// SessionCompactFailed comes when a compaction that had begun has failed.
type SessionCompactFailed struct {
	Reason       string
	ErrorMessage string
	Aborted      bool
	WillRetry    bool
	FromHook     bool
}

// SessionInfoChanged comes when the session has another name; "" is none.
type SessionInfoChanged struct{ Name string }

// TreePreparation is what a move in the tree would do.
type TreePreparation struct {
	TargetID           string
	OldLeafID          string
	CommonAncestorID   string
	EntriesToSummarize []*session.Entry
	UserWantsSummary   bool
}

// SessionBeforeTree asks before the leaf moves.
type SessionBeforeTree struct {
	Preparation         TreePreparation
	Cancel              bool          // result
	Summary             *SummaryDraft // result; counts only when the user wants one
	CustomInstructions  string        // result
	ReplaceInstructions bool          // result
	Label               string        // result
}

// SummaryDraft is the summary of a branch that a hook brings.
type SummaryDraft struct {
	Summary string
	Details json.RawMessage
}

// SessionTree comes when the leaf has moved.
type SessionTree struct {
	NewLeafID, OldLeafID string
	SummaryEntry         *session.Entry // nil: none
	FromHook             bool
}

// Cost returns what the model took for the summary, in dollars; 0 without a summary.
func (e *SessionTree) Cost() float64 {
	if e.SummaryEntry == nil {
		return 0
	}
	if _, u := usedIn(e.SummaryEntry); u != nil {
		return u.Cost.Total
	}
	return 0
}

// SessionShutdown comes before the current session is left or the program ends.
type SessionShutdown struct {
	Reason            string // quit reload new resume branch agent
	TargetSessionFile string
}

// IsLast reports whether the agent ends with the session.
func (e *SessionShutdown) IsLast() bool { return e.Reason == "quit" || e.Reason == sessionOfAgent }

// EntryAppended tells front ends of an entry that has come into the session, after it is
// in, whoever appended it: each once, in their order, one at a time. What comes in while a
// turn is opened is told behind TurnStart, the messages of a prompt that was refused not at
// all. Whoever gets the event must not append. Hooks do not get it.
type EntryAppended struct {
	Entry   *session.Entry
	Message *message.Message // what the entry says, if that is a message, a custom one too; else nil
}

func (*ProjectTrust) Kind() Kind         { return KindProjectTrust }
func (*AppStart) Kind() Kind             { return KindAppStart }
func (*SessionDirectory) Kind() Kind     { return KindSessionDirectory }
func (*SessionStart) Kind() Kind         { return KindSessionStart }
func (*SessionBeforeSwitch) Kind() Kind  { return KindSessionBeforeSwitch }
func (*SessionSwitch) Kind() Kind        { return KindSessionSwitch }
func (*SessionBeforeNew) Kind() Kind     { return KindSessionBeforeNew }
func (*SessionNew) Kind() Kind           { return KindSessionNew }
func (*SessionBeforeBranch) Kind() Kind  { return KindSessionBeforeBranch }
func (*SessionBranch) Kind() Kind        { return KindSessionBranch }
func (*SessionBeforeCompact) Kind() Kind { return KindSessionBeforeCompact }
func (*SessionCompacting) Kind() Kind    { return KindSessionCompacting }
func (*SessionCompact) Kind() Kind       { return KindSessionCompact }
func (*SessionCompactFailed) Kind() Kind { return KindSessionCompactFailed }
func (*SessionInfoChanged) Kind() Kind   { return KindSessionInfoChanged }
func (*SessionBeforeTree) Kind() Kind    { return KindSessionBeforeTree }
func (*SessionTree) Kind() Kind          { return KindSessionTree }
func (*SessionShutdown) Kind() Kind      { return KindSessionShutdown }

// Kind is KindEntryAppended.
func (*EntryAppended) Kind() Kind { return KindEntryAppended }
