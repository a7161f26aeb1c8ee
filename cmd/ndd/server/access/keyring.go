package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// A Keyring holds the tokens and the certificate names of a file. It is safe for concurrent use.
type Keyring struct {
	path string
	now  atomic.Pointer[contents]
}

// contents are what a token file says.
type contents struct {
	tokens []token
	names  map[string]Role // of certificates
}

// A token is known by its hash: hashes have one length, and are compared in
// constant time.
type token struct {
	hash [sha256.Size]byte
	role Role
}

// NewKeyring reads a token file. A file without a token is an error.
func NewKeyring(path string) (*Keyring, error) {
	c, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	if c.len() == 0 {
		return nil, fmt.Errorf("token file %s: no tokens in it", path)
	}
	k := &Keyring{path: path}
	k.now.Store(c)
	return k, nil
}

// Reload reads the file again, and returns how many tokens and names there are now: with none, nobody is let in. With an
// error the tokens stay as they were.
func (k *Keyring) Reload() (int, error) {
	c, err := readTokens(k.path)
	if err != nil {
		return 0, err
	}
	k.now.Store(c)
	return c.len(), nil
}

func (c *contents) len() int { return len(c.tokens) + len(c.names) }

// role returns that of a token, Anyone if it is unknown. All tokens are compared,
// so that the time tells nothing.
func (c *contents) role(secret string) Role {
	hash := sha256.Sum256([]byte(secret))
	found := int(Anyone)
	for _, t := range c.tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), int(t.role), found)
	}
	return Role(found)
}

// A Refused is an error that says why a client may not do what it asks.
type Refused struct {
	Status int    // 401 or 403; with 401 the answer needs a header WWW-Authenticate
	Why    string // in words, without any token
}

// Error returns the reason.
func (r *Refused) Error() string { return r.Why }

// Authorize returns who makes a request, for the access log, or a [Refused] where that is not at least of a role. A
// nil Keyring lets everybody do everything.
func (k *Keyring) Authorize(r *http.Request, least Role) (Client, *Refused) {
	if k == nil {
		return Client{Role: Admin}, nil
	}
	c := k.now.Load()
	who, known := c.certified(r)
	if header := r.Header.Get("Authorization"); header != "" || !known {
		scheme, secret, ok := strings.Cut(header, " ")
		switch {
		case least == Anyone && header == "":
			return who, nil
		case !ok || !strings.EqualFold(scheme, "Bearer"):
			if least == Anyone {
				return who, nil
			}
			return who, &Refused{http.StatusUnauthorized, "header Authorization: a token is needed, as Bearer TOKEN"}
		}
		who.Role = max(who.Role, c.role(strings.TrimSpace(secret)))
		if who.Role == Anyone && least > Anyone {
			return who, &Refused{http.StatusUnauthorized, "header Authorization: unknown token: the server has no such line in its --token-file"}
		}
	}
	if who.Role < least {
		return who, &Refused{http.StatusForbidden, fmt.Sprintf("the client's role is %s, %s is needed", who.Role, least)}
	}
	return who, nil
}

// A Client is who makes a request.
type Client struct {
	Role Role
	Name string // of its certificate, if it has one
}

// certified returns the client that a verified certificate names, and whether the token file gives it a role.
func (c *contents) certified(r *http.Request) (who Client, known bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return who, false
	}
	who.Name = r.TLS.VerifiedChains[0][0].Subject.CommonName
	who.Role, known = c.names[who.Name]
	return who, known
}
