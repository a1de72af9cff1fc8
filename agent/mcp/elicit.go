package mcp

import "encoding/json"

// Question is what a server wants to know from the user while it works on a call.
type Question struct {
	Server  string
	Message string  // why it asks
	Fields  []Field // of a form, in the order of the server's schema
	URL     string  // a page to be opened instead; "": there are fields
}

// Field is one value that a Question asks for.
type Field struct {
	Name        string // in the answer
	Title       string // shown; "" is Name
	Description string
	Type        FieldType
	Required    bool
	Default     json.RawMessage // nil: none
	Choices     []FieldChoice   // of FieldChoose and FieldChooseMany
	Format      string          // of a text: email, uri, date, date-time; "": any

	schema json.RawMessage // of this field alone
}

// FieldType says how a Field is asked for.
type FieldType string

const (
	FieldText       FieldType = "text"
	FieldNumber     FieldType = "number"
	FieldInteger    FieldType = "integer"
	FieldYesNo      FieldType = "yesno"
	FieldChoose     FieldType = "choose"
	FieldChooseMany FieldType = "choosemany"
)

// FieldChoice is one of the values of a Field.
type FieldChoice struct{ Value, Label string }

// Reply is what became of a Question.
type Reply struct {
	Action Action
	Values map[string]any // by the names of fields, with Accept
}

// Action is how a user dealt with a Question.
type Action string

const (
	Accept  Action = "accept"
	Decline Action = "decline" // the user does not want to answer
	Cancel  Action = "cancel"  // nobody answered
)
