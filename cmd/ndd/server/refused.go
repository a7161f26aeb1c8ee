package server

import (
	"net/http"

	"ndd/cmd/ndd/server/access"
)

// checked answers requests that a web browser was talked into, and hands on the others.
func checked(next http.Handler, local bool) http.Handler {
	check := access.CheckOrigin(local)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if no := check(r); no != nil {
			writeRefused(w, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// writeRefused tells a client why it may not do what it asks.
func writeRefused(w http.ResponseWriter, no *access.Refused) {
	if no.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ndd"`)
	}
	refusal(no.Status, no.Why).write(w)
}
