// Package message is what was said: messages, their blocks and the tokens that they
// took, and how they are written in a session file.
//
// A [Message] that was read keeps its bytes, and has them again when it is written. Of
// one that was changed, which is a [Message.Clone], everything that did not change
// keeps its bytes, the fields that nobody here knows among them. [Decode] and
// UnmarshalJSON never fail because of a field: what has another type than it should is
// as if it were missing.
//
// A model is not sent every message, and none that no API takes: [Hidden] tells those
// that are left out, [AsUser] puts what only a session knows (commands, summaries,
// messages of hooks) into words, and [Clean] mends names, texts and arguments. How
// messages of a session become a request, calls paired with their results, is package
// session's.
package message
