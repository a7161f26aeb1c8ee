package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ndd/engine"
)

// An authority signs the certificates of a test.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	n    int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("authority", true)
	return a
}

// sign makes a certificate; the authority's first one signs itself.
func (a *authority) sign(name string, isCA bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.n++
	c := &x509.Certificate{
		SerialNumber: big.NewInt(a.n), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: isCA, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := c, key
	if !isCA {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	return c, key
}

// files writes a certificate and its key.
func (a *authority) files(c *x509.Certificate, key *ecdsa.PrivateKey, certPath, keyPath string) {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for path, b := range map[string]*pem.Block{certPath: {Type: "CERTIFICATE", Bytes: c.Raw}, keyPath: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// client returns a client that trusts the authority, with a certificate of that name, unless it is empty.
func (a *authority) client(name string) *http.Client {
	c := client(a.t)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	config := &tls.Config{RootCAs: roots}
	if name != "" {
		cert, key := a.sign(name, false)
		config.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
	}
	c.Transport.(*http.Transport).TLSClientConfig = config
	return c
}

// With TLS there is no plain HTTP; with an authority of clients, none comes in without its certificate, whose name has
// a role; a new certificate is taken on SIGHUP, and a broken one is not.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	path := func(name string) string { return filepath.Join(a.dir, name) }
	cert, key := a.sign("server one", false)
	a.files(cert, key, path("cert"), path("key"))
	a.files(a.cert, a.key, path("ca"), path("ca-key"))
	if err := os.WriteFile(path("tokens"), []byte(tokenLines+"cn:crawler seven write\ncn:looks in read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{TLSCert: path("cert"), TLSKey: path("key"), TLSClientCA: path("ca"), TokenFile: path("tokens"), AccessLog: path("access"), notice: func() {}}
	r := runServer(t, o, func(context.Context, *Loading) (*engine.Index, error) { return newIndex(t, 3, nil, []uint64{0}), nil })
	line := r.readyLine()
	_, after, _ := strings.Cut(line, "https://")
	address, _, ok := strings.Cut(after, " ")
	if !ok {
		t.Fatalf("no https address: %s", line)
	}
	stranger := newAuthority(t).client("crawler seven")
	stranger.Transport.(*http.Transport).TLSClientConfig.RootCAs = a.client("").Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, c := range []struct {
		name         string
		client       *http.Client
		read, insert int // status; 0 for no connection
	}{
		{"no certificate", a.client(""), 0, 0},
		{"another authority's", stranger, 0, 0},
		{"one that may write", a.client("crawler seven"), 200, 200},
		{"one that may read", a.client("looks in"), 200, 403},
		{"one without a role", a.client("nobody"), 401, 401},
	} {
		for path, want := range map[string]int{"/v1/query": c.read, "/v1/insert": c.insert} {
			status, _, body, err := get(c.client, "POST", "https://"+address+path, `{"fingerprint": "0000000000000000", "id": "x"}`)
			if path == "/v1/query" {
				status, _, body, err = get(c.client, "POST", "https://"+address+path, `{"fingerprint": "0000000000000000"}`)
			}
			if status != want || (err != nil) != (want == 0) {
				t.Errorf("%s, %s: %d %s %v, want %d", c.name, path, status, body, err, want)
			}
		}
	}
	if status, _, _, err := get(client(t), "GET", "http://"+address+"/livez", ""); err == nil && status == http.StatusOK {
		t.Error("plain HTTP was answered")
	}
	served := func() string {
		c := a.client("looks in")
		answer, err := c.Get("https://" + address + "/livez")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.TLS.PeerCertificates[0].Subject.CommonName
	}
	for _, c := range []struct{ name, log, want string }{{"broken", "certificate not read", "server one"}, {"server two", "certificate read again", "server two"}} {
		if c.name == "broken" {
			if err := os.WriteFile(path("cert"), []byte("nothing"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			cert, key := a.sign(c.name, false)
			a.files(cert, key, path("cert"), path("key"))
		}
		r.hangup <- syscall.SIGHUP
		eventually(t, c.log, func() bool { return strings.Contains(r.journal.String(), c.log) })
		if got := served(); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
	checkAccessLog(t, path("access"))
}

// checkAccessLog wants a line of JSON for a request of the crawler that was answered.
func checkAccessLog(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(data)) {
		var l struct {
			Time                     time.Time
			Method, Path, Role, Name string
			Status, Read, Written    int
			TookUs                   *int `json:"took_us"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.TookUs == nil || l.Time.IsZero() {
			t.Fatalf("%v: %s", err, line)
		}
		found = found || fmt.Sprint(l.Method, l.Path, l.Role, l.Name, l.Status, l.Read > 0, l.Written > 0) == "POST/v1/insertwritecrawler seven200 true true"
	}
	if !found {
		t.Errorf("%s", data)
	}
}

// Wrong flags of TLS are said before anything is served.
func TestTLSErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{TLSCert: "a"}, "--tls-cert and --tls-key go together"},
		{Options{TLSKey: "a"}, "--tls-cert and --tls-key go together"},
		{Options{TLSClientCA: "a"}, "--tls-client-ca needs"},
		{Options{TLSCert: "no-such-cert", TLSKey: "no-such-key"}, "no-such-cert"},
		{Options{AccessLog: filepath.Join(t.TempDir(), "no", "such")}, "--access-log"},
	} {
		r := runServer(t, c.o, func(context.Context, *Loading) (*engine.Index, error) { return newIndex(t, 3, nil, nil), nil })
		if err := r.wait(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
