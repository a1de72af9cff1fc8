module pi/agent/provider/catalogue/generate

go 1.26

require charm.land/catwalk v0.51.0

require github.com/charmbracelet/x/etag v0.2.0 // indirect
