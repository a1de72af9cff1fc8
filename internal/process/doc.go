// Package process starts commands in process groups of their own and ends the groups,
// so that nothing a command started is left behind.
//
//	Group, Session   before the start: the command leads a group, or a session
//	Terminate, Kill  TERM and KILL for the group of a started command
//	Stop             both, with time between them, for whatever group
//	Signal           one of Signals for the group of a process that runs
//	SignalOf         which signal ended a process
//	Alive, Own       whether a group has a process; the group of this program
//	Running          whether there is a process of a number
//
// Where there are no groups it does what can be done for the command itself. It knows
// nothing of the rest of the program.
package process
