package server

import (
	"net/http"

	"ndd/cmd/ndd/server/access"
)

// checked refuses requests that a foreign web page makes a browser send.
func checked(next http.Handler, local bool) http.Handler {
	check := access.CheckOrigin(local)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if no := check(r); no != nil {
			writeRefused(w, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// identify hands the requests of clients of a role on. A nil keyring knows everybody.
func identify(keys *access.Keyring, least access.Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, no := keys.Authorize(r, least)
		recordOf(r.Context()).client = who
		if no != nil {
			writeRefused(w, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// writeRefused tells a client why it may not do what it asks for.
func writeRefused(w http.ResponseWriter, no *access.Refused) {
	if no.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ndd"`)
	}
	refusal(no.Status, no.Why).write(w)
}
