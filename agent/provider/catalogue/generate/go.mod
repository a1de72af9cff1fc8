module pi/agent/provider/catalogue/generate

// catwalk asks for this version: GOTOOLCHAIN=go1.26.10 for this module alone.
go 1.26.10

require charm.land/catwalk v0.52.86

require github.com/charmbracelet/x/etag v0.2.0 // indirect
