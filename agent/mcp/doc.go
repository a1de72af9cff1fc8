// Package mcp is the client of servers that speak the Model Context Protocol: what they are
// ([Entry]), the set of those of a session ([Servers]), and how the model comes to their tools.
//
//	Open                         the servers of a session; nothing is started
//	Servers.List, Server         what is known of each, without starting it
//	Servers.Add, Remove, SetOn   servers that come and go while a session runs
//	Servers.Search, Describe     tools and resources by words, and the definition of one
//	Servers.Call, Read, Prompt   what a server is asked; it is started by that
//	Servers.Definitions          all tools of one, which is started by that
//	Servers.Tools, Section       what the model is given: tools, and rows of the system prompt
//	Servers.Refresh, SignedIn    begins anew with a server
//	Servers.Relist               asks one that runs for its lists
//	Servers.Close                ends all of them
//
// Nothing costs anything before it is used: the definitions of tools are in a cache, and a
// server is started by the first call that needs it.
package mcp
