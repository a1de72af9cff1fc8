// Package record makes Lua tables of session data, and reads them back.
//
// A [Converter] serves one VM, and is used only while that is held. Lists are real
// tables; their elements are filled when Lua first touches them, and what a hook did not
// touch comes back as the same Go value. Fields that the core defines have snake_case
// names in Lua (names.go); what hooks and models wrote keeps its keys.
//
//	to.go       messages, blocks and entries on their way into Lua; model.go, usage.go
//	from.go     messages on their way back; blocks.go: content and arguments
//	answer.go   what a handler returned, read with the path of what is wrong in it
package record
