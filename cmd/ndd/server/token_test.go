package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/cmd/ndd/server/access"
	"example.org/ndd/engine/oracle/must"
)

const (
	readToken    = "read-0123456789abcdef"
	writeToken   = "write-0123456789abcdef"
	adminToken   = "admin-0123456789abcdef"
	metricsToken = "metrics-0123456789abcdef"
	tokenLines   = "# who may do what\n\n" + metricsToken + " metrics\n" + readToken + " read\n" + writeToken +
		"\twrite\n  " + adminToken + " admin\n"
)

// TestWhoMayDoWhat tests every endpoint with every bearer.
func TestWhoMayDoWhat(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), tokenLines)
	body := map[string]string{
		"POST /v1/query":            `{"fingerprint": "0000000000000000"}`,
		"POST /v1/insert":           `{"id": "a", "fingerprint": "0000000000000000"}`,
		"POST /v1/check-and-insert": `{"id": "a", "fingerprint": "0000000000000000"}`,
		"POST /v1/delete":           `{"id": "none"}`,
		"POST /v1/batch":            "\x00\x00\x00\x00\x00\x00\x00\x00",
	}
	bearers := []struct {
		header string
		has    access.Role
	}{
		{"", access.Anyone},
		{"Bearer", access.Anyone},
		{"Bearer ", access.Anyone},
		{"Bearer unknown-0123456789abcdef", access.Anyone},
		{"Bearer " + readToken[:len(readToken)-1], access.Anyone},
		{"Bearer " + readToken + "0", access.Anyone},
		{"Basic " + adminToken, access.Anyone},
		{adminToken, access.Anyone},
		{"Bearer " + metricsToken, access.Metrics},
		{"Bearer " + readToken, access.Read},
		{"bearer " + readToken, access.Read},
		{"Bearer " + writeToken, access.Write},
		{"Bearer " + adminToken, access.Admin},
	}
	for _, route := range b.routes() {
		for _, bearer := range bearers {
			what := strings.Replace(route.pattern, "{id...}", "row-0", 1)
			if strings.HasPrefix(what, "DELETE") {
				what += "?prefix=nobody"
			}
			status, header, answer := b.do(t, b.request(t, what, "", body[route.pattern], "Authorization", bearer.header))
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[bearer.has >= route.minimumRole]
			if route.minimumRole > access.Anyone && bearer.has == access.Anyone {
				want = http.StatusUnauthorized
			}
			if status != want {
				t.Errorf("%s with %q: %d %s, want %d", route.pattern, bearer.header, status, answer, want)
			}
			if (status == http.StatusUnauthorized) != (header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s with %q: %d and WWW-Authenticate %q", route.pattern, bearer.header, status,
					header.Get("WWW-Authenticate"))
			}
			if strings.Contains(answer, "0123456789abcdef") {
				t.Errorf("%s with %q: the answer gives a token away: %s", route.pattern, bearer.header, answer)
			}
		}
	}
	if n := b.index.Load().Stats().Documents; n != 1+1 {
		t.Errorf("%d documents, want 2: the earlier one, and the one that write inserted and admin replaced", n)
	}
}

// TestWhoMaySeeMetrics checks that with a token file, the admin listener requires a token with the role metrics or
// admin, and for profiles the role admin. It answers only to names of this machine.
func TestWhoMaySeeMetrics(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0, 1}), tokenLines)
	for _, c := range []struct {
		host, path, token string
		status            int
		word              string
	}{
		{"localhost", "/metrics", "", 401, "token"},
		{"localhost", "/metrics", readToken, 403, "metrics"},
		{"localhost", "/metrics", writeToken, 403, "metrics"},
		{"localhost", "/metrics", metricsToken, 200, "ndd_ready 1"},
		{"localhost", "/metrics", adminToken, 200, "ndd_index_documents 2"},
		{"localhost", "/debug/pprof/", "", 401, "token"},
		{"localhost", "/debug/pprof/", metricsToken, 403, "admin"},
		{"localhost", "/debug/pprof/", adminToken, 200, "goroutine"},
		{"localhost", "/debug/pprof/cmdline", adminToken, 200, ""},
		{"localhost", "/debug/pprof/heap", adminToken, 200, ""},
		{"evil.example", "/debug/pprof/", adminToken, 421, ""},
		{"localhost", "/v1/query", adminToken, 404, ""},
		{"localhost", "/livez", "", 200, ""},
		{"evil.example", "/livez", "", 421, ""},
		{"127.0.0.1.evil.example:7745", "/metrics", adminToken, 421, ""},
	} {
		r, w := httptest.NewRequest("GET", "http://"+c.host+c.path, nil), httptest.NewRecorder()
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		b.adminHandler(true).ServeHTTP(w, r)
		compareAnswer(t, w.Code, w.Body.String(), c.status, fmt.Sprint(c.host, c.path, " with ", c.token), c.word)
	}
}

// TestClientOf checks that requests share memory if they have the same address, or the same /64 of IPv6.
func TestClientOf(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:7": "192.0.2.1/32", "[::ffff:192.0.2.1]:7": "192.0.2.1/32",
		"[2001:db8:1:2:3:4:5:6]:7": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::1]:8": "2001:db8:1:2::/64",
	} {
		if got := clientOf(&http.Request{RemoteAddr: from}); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// TestReload checks that a reload uses a valid file, and keeps the old tokens if the file is invalid.
func TestReload(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), tokenLines)
	status := func(token string) int {
		s, _ := b.send(t, "/v1/query", "", `{"fingerprint": "0000000000000000"}`, "Authorization", "Bearer "+token)
		return s
	}
	const fresh = "fresh-0123456789abcdef"
	for _, c := range []struct {
		text       string
		old, fresh int
	}{
		{tokenLines, 200, 401},
		{"rubbish\n", 200, 401},
		{fresh + " read\n", 401, 200},
		{fresh, 401, 200},
		{"# none\n", 401, 401}, // an empty file lets nobody in
		{tokenLines, 200, 401},
		{"", 401, 401},
	} {
		must.Do(t, os.WriteFile(b.tokens, []byte(c.text), 0o600))
		b.reload()
		if old, new := status(readToken), status(fresh); old != c.old || new != c.fresh {
			t.Errorf("after reading %q: the old token %d, the fresh one %d; want %d, %d", c.text, old, new, c.old, c.fresh)
		}
	}
	if log := b.journal.String(); strings.Count(log, "the tokens are unchanged") != 2 ||
		strings.Count(log, "all requests are refused") != 2 || strings.Contains(log, "0123456789abcdef") {
		t.Errorf("log:\n%s", log)
	}
}

func TestAddressesThatNeedTokens(t *testing.T) {
	for _, c := range []struct {
		listen, admin, tokens string
		insecure, ok          bool
	}{
		{"127.0.0.1:0", "127.0.0.1:0", "", false, true},
		{"localhost:0", "", "", false, true},
		{"[::1]:0", "127.8.8.8:0", "", false, true},
		{"[::ffff:127.0.0.1]:0", "", "", false, true},
		{"0.0.0.0:0", "", "", false, false},
		{":7744", "", "", false, false},
		{"[::]:0", "", "", false, false},
		{"10.0.0.1:0", "", "", false, false},
		{"localhost.evil.example:0", "", "", false, false},
		{"127.0.0.1:0", "0.0.0.0:0", "", false, false},
		{"0.0.0.0:0", "0.0.0.0:0", "tokens", false, true},
		{"0.0.0.0:0", "", "", true, true},
		{"127.0.0.1", "", "", true, false},
		{"", "", "", true, false},
	} {
		o := Options{Listen: c.listen, Admin: c.admin,
			Access: Access{TokenFile: c.tokens, InsecureNoAuth: c.insecure}}
		if err := o.Validate(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// An authority signs the certificates of a test.
type authority struct {
	t   *testing.T
	own tls.Certificate
	n   int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.own = a.sign("authority", true)
	return a
}

// sign makes a certificate; the authority's first one signs itself.
func (a *authority) sign(name string, isCA bool) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(a.t, err)
	a.n++
	c := &x509.Certificate{
		SerialNumber: big.NewInt(a.n), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     isCA, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := c, any(key)
	if !isCA {
		parent, signer = a.own.Leaf, a.own.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	must.Do(a.t, err)
	c, err = x509.ParseCertificate(der)
	must.Do(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: c}
}

// files writes a certificate and its key.
func (a *authority) files(c tls.Certificate, certPath, keyPath string) {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	must.Do(a.t, err)
	for path, b := range map[string]*pem.Block{certPath: {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		keyPath: {Type: "PRIVATE KEY", Bytes: der}} {
		must.Do(a.t, os.WriteFile(path, pem.EncodeToMemory(b), 0o600))
	}
}

// client returns a client that trusts the authority.
func (a *authority) client() *http.Client {
	c := client(a.t)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AddCert(a.own.Leaf)
	c.Transport.(*http.Transport).TLSClientConfig = config
	return c
}

// TestTLS checks that with TLS there is no plain HTTP. SIGHUP reads tokens and a new certificate; a broken certificate
// is refused. The access log has a line for each request.
func TestTLS(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	a.files(a.sign("server one", false), path("cert"), path("key"))
	must.Do(t, os.WriteFile(path("tokens"), []byte(tokenLines), 0o600))
	var accessLog journal
	o := Options{Access: Access{TLSCert: path("cert"), TLSKey: path("key"), TokenFile: path("tokens")},
		Output: Output{AccessLog: &accessLog}}
	r := runServer(t, o, loads(t, []uint64{0}))
	line := r.readyLine()
	m := regexp.MustCompile(`https://(\S+) - try: curl .*\$TOKEN`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("no https address, or no token: %s", line)
	}
	x := target{"https://" + m[1], a.client()}
	status, answer := x.send(t, "/v1/insert", "", `{"fingerprint": "0000000000000000", "id": "x"}`, "Authorization",
		"Bearer "+writeToken)
	compareAnswer(t, status, answer, http.StatusOK, "an insert", "inserted")
	if status, _, err := once(client(t).Get("http://" + m[1] + "/livez")); err == nil && status == http.StatusOK {
		t.Error("plain HTTP was answered")
	}
	served := func() string {
		answer, err := a.client().Get("https://" + m[1] + "/livez")
		must.Do(t, err)
		answer.Body.Close()
		return answer.TLS.PeerCertificates[0].Subject.CommonName
	}
	for _, c := range []struct{ name, log, want string }{{"broken", "certificate not read", "server one"},
		{"server two", "certificate read again", "server two"}} {
		if c.name == "broken" {
			must.Do(t, os.WriteFile(path("cert"), []byte("nothing"), 0o600))
		} else {
			a.files(a.sign(c.name, false), path("cert"), path("key"))
		}
		r.hangup <- syscall.SIGHUP
		must.Eventually(t, c.log, func() bool { return strings.Contains(r.journal.String(), c.log) })
		if got := served(); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if !strings.Contains(r.journal.String(), "token file read again") {
		t.Errorf("the tokens are not read again: %s", r.journal)
	}
	r.end()
	if log := accessLog.String(); !regexp.MustCompile(`(?m)^\{"time":"20\S+","from":"127\S+","method":"POST",` +
		`"path":"/v1/insert","status":200,"read":\d\d,"written":\d\d+,"took_us":\d+,"waited_us":\d+,"role":"write",` +
		`"id":"x","outcome":"inserted","agent":.*\}$`).MatchString(log) {
		t.Errorf("access log: %s", log)
	}
}

// TestTLSVersions checks that only TLS 1.2 with authenticated encryption, and later versions, are accepted.
func TestTLSVersions(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	certPath, keyPath := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	a.files(a.sign("server", false), certPath, keyPath)
	served, err := access.NewTLS(certPath, keyPath)
	must.Do(t, err)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog, s.TLS = log.New(io.Discard, "", 0), served.Config()
	s.StartTLS()
	defer s.Close()
	if c, err := served.Config().GetConfigForClient(nil); err != nil || c.MinVersion < tls.VersionTLS12 ||
		served.Config().MinVersion < tls.VersionTLS12 {
		t.Errorf("%+v, %v", c, err)
	}
	dial := func(version uint16, suites ...uint16) error {
		config := &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version, CipherSuites: suites}
		c, err := tls.Dial("tcp", s.Listener.Addr().String(), config)
		if err == nil {
			c.Close()
		}
		return err
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if dial(version) == nil {
			t.Errorf("%s is accepted", tls.VersionName(version))
		}
	}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if suite.SupportedVersions[0] == tls.VersionTLS13 || !strings.HasPrefix(suite.Name, "TLS_ECDHE_ECDSA") {
			continue
		}
		aead := strings.Contains(suite.Name, "GCM") || strings.Contains(suite.Name, "POLY1305")
		if err := dial(tls.VersionTLS12, suite.ID); (err == nil) != aead {
			t.Errorf("%s: %v", suite.Name, err)
		}
	}
	must.Do(t, dial(tls.VersionTLS13))
}
