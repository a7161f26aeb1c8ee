package access

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"
)

// A TLS has the server's certificate and key. It reads the files again when they have changed. It is safe for
// concurrent use.
type TLS struct {
	cert, key string
	current   atomic.Pointer[tls.Config]
}

// NewTLS reads the files, both in PEM. Errors name the file.
func NewTLS(cert, key string) (*TLS, error) {
	t := &TLS{cert: cert, key: key}
	return t, t.Reload()
}

// Reload reads the files again, for new connections. After an error the old ones stay in use.
func (t *TLS) Reload() error {
	pair, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return fmt.Errorf("certificate %s, key %s: %w", t.cert, t.key, err)
	}
	t.current.Store(&tls.Config{
		MinVersion:   tls.VersionTLS12,
		CipherSuites: aead(),
		Certificates: []tls.Certificate{pair},
		NextProtos:   []string{"http/1.1"}, // the limits of connections need one request at a time on each
	})
	return nil
}

// aead returns the suites of TLS 1.2 with authenticated encryption. Suites with CBC have padding oracles.
func aead() (ids []uint16) {
	for _, s := range tls.CipherSuites() {
		if strings.Contains(s.Name, "_GCM_") || strings.Contains(s.Name, "_CHACHA20_POLY1305") {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Config returns the configuration of a listener. After Reload, new connections use the new files.
func (t *TLS) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.current.Load(), nil },
	}
}
