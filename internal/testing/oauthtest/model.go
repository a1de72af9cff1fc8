package oauthtest

import (
	"fmt"
	"net/http"
	"strings"
)

// model is a server of models that speaks openai-completions and lets in whoever has a token or a key
// that was given away here. It says who came: "let in by access" or "by key".
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	_, byToken := s.access[secret]
	byKey := s.keys[secret]
	s.mu.Unlock()
	by := "access"
	switch {
	case byKey:
		by = "key"
	case !byToken:
		answer(w, http.StatusUnauthorized, map[string]any{"error": map[string]string{"message": "no such token"}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"let in by %s\"}}]}\n\n", by)
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}
