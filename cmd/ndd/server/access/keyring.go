package access

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

// A Keyring has the tokens of a token file. It is safe for concurrent use.
type Keyring struct {
	path    string
	current atomic.Pointer[tokens]
}

// tokens are the tokens of a file.
type tokens []token

// A token is stored as its hash. Hashes have one length, and are compared in constant time.
type token struct {
	hash [sha256.Size]byte
	role Role
}

// NewKeyring reads a token file. A file without a token is an error.
func NewKeyring(path string) (*Keyring, error) {
	k := &Keyring{path: path}
	n, err := k.Reload()
	if err == nil && n == 0 {
		err = fmt.Errorf("token file %s: no tokens in it", path)
	}
	return k, err
}

// Reload reads the file again, and returns the number of tokens. If it is 0, nobody is let in. After an
// error the old tokens stay in use.
func (k *Keyring) Reload() (int, error) {
	c, err := readTokens(k.path)
	if err != nil {
		return 0, err
	}
	k.current.Store(&c)
	return len(c), nil
}

// role returns the role of a token, or Anyone if the token is unknown. It compares all tokens, so that its running time
// reveals nothing.
func (c tokens) role(secret string) Role {
	hash := sha256.Sum256([]byte(secret))
	result := int(Anyone)
	for _, t := range c {
		result = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), int(t.role), result)
	}
	return Role(result)
}

// A Refusal is the reason why a client is not authorized.
type Refusal struct {
	Status int    // 401 or 403; with 401 the answer needs a header WWW-Authenticate
	Why    string // message, without any token
}

// Authorize returns the role of the client of a request. It also returns a [Refusal] if the role is below the minimum.
// A nil Keyring gives every client the role Admin.
func (k *Keyring) Authorize(r *http.Request, minimum Role) (role Role, no *Refusal) {
	if k == nil {
		return Admin, nil
	}
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok = ok && strings.EqualFold(scheme, "Bearer"); ok {
		role = k.current.Load().role(strings.TrimSpace(secret))
	}
	switch {
	case minimum == Anyone:
		return role, nil
	case !ok:
		return role, &Refusal{http.StatusUnauthorized, "header Authorization: a token is needed, as Bearer TOKEN"}
	case role == Anyone:
		return role, &Refusal{http.StatusUnauthorized,
			"header Authorization: unknown token: the server has no such line in its --token-file"}
	case role < minimum || minimum == Metrics && role != Metrics && role != Admin:
		return role, &Refusal{http.StatusForbidden, fmt.Sprintf("the client's role is %s, %s is needed", role, minimum)}
	}
	return role, nil
}

const (
	// tokenBytesMin excludes tokens that can be guessed. 16 random hexadecimal digits have 64 bits.
	tokenBytesMin = 16
	tokensMax     = 10_000
	tokenFileMax  = 1 << 20
)

// readTokens reads a token file. Errors name file and line, and never a token. It opens only regular files, because
// opening a pipe waits for its writer.
func readTokens(path string) (tokens, error) {
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

// parseTokens reads lines of "TOKEN ROLE". It skips empty lines and those that begin with #.
func parseTokens(r io.Reader) (list tokens, err error) {
	lines := bufio.NewScanner(io.LimitReader(r, tokenFileMax))
	seen := map[[sha256.Size]byte]bool{}
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if seen[t.hash] {
			return nil, fmt.Errorf("line %d: the token is already on an earlier line", n)
		}
		seen[t.hash] = true
		if list = append(list, t); len(list) > tokensMax {
			return nil, fmt.Errorf("line %d: more than %d tokens", n, tokensMax)
		}
	}
	return list, lines.Err()
}

// parseLine returns the token of a line.
func parseLine(line string) (t token, err error) {
	fields := strings.Fields(line)
	switch {
	case len(fields) != 2:
		return t, errors.New("must be a token and a role")
	case len(fields[0]) < tokenBytesMin:
		return t, fmt.Errorf("a token of %d bytes is too easy to guess: use at least %d", len(fields[0]), tokenBytesMin)
	}
	t.hash = sha256.Sum256([]byte(fields[0]))
	t.role, err = parseRole(fields[1])
	return t, err
}
