package access

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

// A Keyring has the tokens and the certificate names of a token file. It is safe for concurrent use.
type Keyring struct {
	path    string
	current atomic.Pointer[contents]
}

// contents is the parsed content of a token file.
type contents struct {
	tokens   []token
	names    map[string]Role // roles by the names of certificates
	loopback bool            // programs of this machine may read metrics without a token
}

// A token is stored as its hash. Hashes have one length, and are compared in constant time.
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
	k.current.Store(c)
	return k, nil
}

// Reload reads the file again, and returns the number of tokens and names. If it is 0, nobody is let in. After an
// error the old tokens stay in use.
func (k *Keyring) Reload() (int, error) {
	c, err := readTokens(k.path)
	if err != nil {
		return 0, err
	}
	k.current.Store(c)
	return c.len(), nil
}

func (c *contents) len() int {
	n := len(c.tokens) + len(c.names)
	if c.loopback {
		n++
	}
	return n
}

// role returns the role of a token, or Anyone if the token is unknown. It compares all tokens, so that its running time
// reveals nothing.
func (c *contents) role(secret string) Role {
	hash := sha256.Sum256([]byte(secret))
	result := int(Anyone)
	for _, t := range c.tokens {
		result = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), int(t.role), result)
	}
	return Role(result)
}

// A Refusal is the reason why a client is not authorized.
type Refusal struct {
	Status int    // 401 or 403; with 401 the answer needs a header WWW-Authenticate
	Why    string // message, without any token
}

// Authorize returns the client of a request. It also returns a [Refusal] if the client's role is below the minimum. A
// nil Keyring gives every client the role Admin.
func (k *Keyring) Authorize(r *http.Request, minimum Role) (Client, *Refusal) {
	if k == nil {
		return Client{Role: Admin}, nil
	}
	c := k.current.Load()
	client, known := c.certificateClient(r)
	if minimum == Metrics && c.loopback && isLocal(r) {
		client.Role, known = max(client.Role, Metrics), true
	}
	if header := r.Header.Get("Authorization"); header != "" || !known {
		scheme, secret, ok := strings.Cut(header, " ")
		switch {
		case minimum == Anyone && header == "":
			return client, nil
		case !ok || !strings.EqualFold(scheme, "Bearer"):
			if minimum == Anyone {
				return client, nil
			}
			return client, &Refusal{http.StatusUnauthorized, "header Authorization: a token is needed, as Bearer TOKEN"}
		}
		client.Role = max(client.Role, c.role(strings.TrimSpace(secret)))
		if client.Role == Anyone && minimum > Anyone {
			return client, &Refusal{http.StatusUnauthorized,
				"header Authorization: unknown token: the server has no such line in " +
					"its --token-file"}
		}
	}
	if client.Role < minimum || minimum == Metrics && client.Role != Metrics && client.Role != Admin {
		return client, &Refusal{http.StatusForbidden, fmt.Sprintf("the client's role is %s, %s is needed", client.Role, minimum)}
	}
	return client, nil
}

// isLocal reports whether a request comes from this machine.
func isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && IsLoopback(host)
}

// A Client is the sender of a request.
type Client struct {
	Role Role
	Name string // name in its certificate, if it has one
}

// certificateClient returns the client that a verified certificate names. known is true if the token file has a role
// for it.
func (c *contents) certificateClient(r *http.Request) (client Client, known bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return client, false
	}
	client.Name = r.TLS.VerifiedChains[0][0].Subject.CommonName
	client.Role, known = c.names[client.Name]
	return client, known
}

const (
	// tokenBytesMin excludes tokens that can be guessed. 16 random hexadecimal digits have 64 bits.
	tokenBytesMin = 16
	tokensMax     = 10_000
	tokenFileMax  = 1 << 20
)

// namePrefix begins the name of a client certificate, in the place of a token.
const namePrefix = "cn:"

// loopbackLine is the line that lets programs of this machine read metrics without a token.
const loopbackLine = "loopback metrics"

// readTokens reads a token file. Errors name file and line, and never a token. It opens only regular files, because
// opening a pipe waits for its writer.
func readTokens(path string) (*contents, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("token file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("token file %s: not a regular file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("token file %s: accessible to others than its owner (mode %04o): run chmod 600 on it", path,
			info.Mode().Perm())
	case info.Size() > tokenFileMax:
		return nil, fmt.Errorf("token file %s: more than %d bytes", path, tokenFileMax)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	if current, err := f.Stat(); err != nil || !os.SameFile(info, current) {
		return nil, fmt.Errorf("token file %s: replaced while it was opened", path)
	}
	c, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return c, nil
}

// parseTokens reads lines of "TOKEN ROLE", "cn:NAME ROLE" and "loopback metrics". It skips empty
// lines and those that begin with #. A name may have spaces.
func parseTokens(r io.Reader) (*contents, error) {
	c := &contents{names: map[string]Role{}}
	lines := bufio.NewScanner(io.LimitReader(r, tokenFileMax))
	seen := map[[sha256.Size]byte]bool{}
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Join(strings.Fields(line), " ") == loopbackLine {
			c.loopback = true
			continue
		}
		t, name, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if seen[t.hash] {
			return nil, fmt.Errorf("line %d: the token is already on an earlier line", n)
		}
		seen[t.hash] = true
		if name != "" {
			c.names[name] = t.role
		} else {
			c.tokens = append(c.tokens, t)
		}
		if c.len() > tokensMax {
			return nil, fmt.Errorf("line %d: more than %d tokens", n, tokensMax)
		}
	}
	return c, lines.Err()
}

// parseLine returns the token, or the name of a certificate, of a line. t has the role in both cases.
func parseLine(line string) (t token, name string, err error) {
	secret, role := line, ""
	if i := strings.LastIndexAny(line, " \t"); i >= 0 {
		secret, role = strings.TrimSpace(line[:i]), line[i+1:]
	}
	name, named := strings.CutPrefix(secret, namePrefix)
	switch {
	case role == "" || !named && strings.ContainsAny(secret, " \t"):
		return t, "", errors.New("must be a token and a role, or cn:NAME and a role")
	case named && name == "":
		return t, "", errors.New("a certificate needs a name")
	case !named && len(secret) < tokenBytesMin:
		return t, "", fmt.Errorf("a token of %d bytes is too easy to guess: use at least %d", len(secret), tokenBytesMin)
	case !named:
		name = ""
	}
	t.hash = sha256.Sum256([]byte(secret))
	t.role, err = parseRole(role)
	return t, name, err
}
