package access

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

const (
	// tokenBytesMin keeps out tokens that can be guessed: 16 random
	// hexadecimal digits are 64 bits.
	tokenBytesMin = 16
	tokensMax     = 10_000
	tokenFileMax  = 1 << 20
)

// namePrefix begins the name of a client certificate, in the place of a token.
const namePrefix = "cn:"

// readTokens reads a token file. Errors name file and line and never a token. What is not a regular file is not
// opened: to open a pipe waits for the one who writes to it.
func readTokens(path string) (*contents, error) {
	info, err := os.Stat(path)
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, fmt.Errorf("token file %s: replaced while it was opened", path)
	}
	c, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return c, nil
}

// parseTokens reads lines of "TOKEN ROLE" and "cn:NAME ROLE"; empty ones and those that begin
// with # say nothing. A name may have spaces.
func parseTokens(r io.Reader) (*contents, error) {
	c := &contents{names: map[string]Role{}}
	lines := bufio.NewScanner(io.LimitReader(r, tokenFileMax))
	seen := map[[sha256.Size]byte]bool{}
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
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

// parseLine returns what a line says: a token, or the name of a certificate, and the role in either.
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
