package mcp

import "slices"

// Known are the tools of a server as they were listed last, those that are off among them. Nothing
// is started; nil: it was never listed, or there is no such server.
func (s *Servers) Known(name string) []Tool {
	one, err := s.find(name)
	if err != nil {
		return nil
	}
	defs := one.definitions()
	if defs == nil {
		return nil
	}
	return slices.Clone(defs.Tools)
}
