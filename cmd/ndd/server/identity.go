package server

import (
	"net/http"

	"example.org/ndd/cmd/ndd/server/access"
)

// A check is middleware with one concern: it refuses a request, or lets it pass with nil.
type check func(http.ResponseWriter, *http.Request) *problem

// withChecks hands on the requests that pass all checks.
func withChecks(next http.Handler, checks ...check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, refuses := range checks {
			if p := refuses(w, r); p != nil {
				p.write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin refuses requests that a browser sends for a page of another web site.
func checkOrigin(local bool) check {
	origin := access.CheckOrigin(local)
	return func(w http.ResponseWriter, r *http.Request) *problem {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		return authorizationProblem(w, origin(r))
	}
}

// checkClient refuses clients without a role. A nil keyring knows everybody.
func checkClient(keys *access.Keyring, minimum access.Role) check {
	return func(w http.ResponseWriter, r *http.Request) *problem {
		role, no := keys.Authorize(r, minimum)
		recordOf(r.Context()).role = role
		return authorizationProblem(w, no)
	}
}

// authorizationProblem answers with the reason why the client is not authorized.
func authorizationProblem(w http.ResponseWriter, no *access.Refusal) *problem {
	if no == nil {
		return nil
	}
	if no.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ndd"`)
	}
	return newProblem(no.Status, no.Why)
}
