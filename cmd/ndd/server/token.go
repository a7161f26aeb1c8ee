package server

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

// A role says what the bearer of a token may do; each includes those before.
type role int

const (
	anyone role = iota // no token needed
	reader
	writer
	admin
)

var roleNames = [...]string{"anyone", "read", "write", "admin"}

func (r role) String() string { return roleNames[r] }

const (
	// tokenBytesMin keeps out tokens that can be guessed: 16 random
	// hexadecimal digits are 64 bits.
	tokenBytesMin = 16
	tokensMax     = 10_000
	tokenFileMax  = 1 << 20
)

// A token is known by its hash: hashes have one length, and are compared in
// constant time.
type token struct {
	hash [sha256.Size]byte
	role role
}

// A keyring holds the tokens of a file. Safe for concurrent use.
type keyring struct {
	path   string
	tokens atomic.Pointer[[]token]
}

// newKeyring reads the token file.
func newKeyring(path string) (*keyring, error) {
	k := &keyring{path: path}
	return k, k.reload()
}

// reload reads the file again; with an error, the tokens stay as they were.
func (k *keyring) reload() error {
	tokens, err := readTokens(k.path)
	if err != nil {
		return err
	}
	k.tokens.Store(&tokens)
	return nil
}

// role is that of a token, anyone if it is unknown. All tokens are compared,
// so that the time tells nothing.
func (k *keyring) role(secret string) role {
	hash := sha256.Sum256([]byte(secret))
	found := int(anyone)
	for _, t := range *k.tokens.Load() {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.hash[:]), int(t.role), found)
	}
	return role(found)
}

// readTokens reads lines of "token role"; empty ones and those that begin
// with # say nothing. Errors name file and line and never a token.
func readTokens(path string) ([]token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("token file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("token file %s: not a regular file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("token file %s: accessible to others than its owner (mode %04o): run chmod 600 on it", path, info.Mode().Perm())
	case info.Size() > tokenFileMax:
		return nil, fmt.Errorf("token file %s: more than %d bytes", path, tokenFileMax)
	}
	tokens, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return tokens, nil
}

func parseTokens(r io.Reader) (tokens []token, err error) {
	lines := bufio.NewScanner(io.LimitReader(r, tokenFileMax))
	seen := map[[sha256.Size]byte]bool{}
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: must be a token and a role", n)
		}
		if len(fields[0]) < tokenBytesMin {
			return nil, fmt.Errorf("line %d: a token of %d bytes is too easy to guess: use at least %d", n, len(fields[0]), tokenBytesMin)
		}
		t := token{hash: sha256.Sum256([]byte(fields[0]))}
		switch fields[1] {
		case reader.String():
			t.role = reader
		case writer.String():
			t.role = writer
		case admin.String():
			t.role = admin
		default:
			return nil, fmt.Errorf("line %d: the role must be read, write or admin", n)
		}
		if seen[t.hash] {
			return nil, fmt.Errorf("line %d: the token is already on an earlier line", n)
		}
		seen[t.hash] = true
		if tokens = append(tokens, t); len(tokens) > tokensMax {
			return nil, fmt.Errorf("line %d: more than %d tokens", n, tokensMax)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, errors.New("no tokens in it")
	}
	return tokens, nil
}

// authorize refuses a request whose bearer is not at least of a role. A nil
// keyring lets everybody in.
func (k *keyring) authorize(r *http.Request, least role) *problem {
	if k == nil || least == anyone {
		return nil
	}
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return refusal(http.StatusUnauthorized, "header Authorization: a bearer token is needed")
	}
	switch has := k.role(strings.TrimSpace(secret)); {
	case has == anyone:
		return refusal(http.StatusUnauthorized, "header Authorization: unknown token")
	case has < least:
		return refusal(http.StatusForbidden, fmt.Sprintf("the token's role is %s, %s is needed", has, least))
	}
	return nil
}
