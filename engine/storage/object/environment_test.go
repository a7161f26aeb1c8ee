package object

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// variables sets variables of the environment, and clears the others. Files are in an empty folder.
func variables(t *testing.T, set map[string]string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range set {
		t.Setenv(name, value)
	}
}

// TestEnvironmentProfile reads the keys of a profile from both files. Variables precede files.
func TestEnvironmentProfile(t *testing.T) {
	dir := t.TempDir()
	config, shared := filepath.Join(dir, "config"), filepath.Join(dir, "credentials")
	for path, text := range map[string]string{
		config: "[profile work]\naws_access_key_id = C\naws_secret_access_key = D\n",
		shared: "[default]\naws_access_key_id = A\naws_secret_access_key = B=C\n",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for name, c := range map[string]struct {
		set                           map[string]string
		region, endpoint, key, secret string
	}{
		"default": {nil, "", "", "A", "B=C"},
		"profile": {map[string]string{"AWS_PROFILE": "work", "AWS_REGION": "r"}, "r", "", "C", "D"},
		"variables": {map[string]string{"AWS_PROFILE": "work", "AWS_REGION": "r", "AWS_ENDPOINT_URL": "http://e",
			"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}, "r", "http://e", "k", "s"},
		"endpoint of S3": {map[string]string{"AWS_DEFAULT_REGION": "r", "AWS_ENDPOINT_URL": "http://e",
			"AWS_ENDPOINT_URL_S3": "http://b"}, "r", "http://b", "A", "B=C"},
	} {
		t.Run(name, func(t *testing.T) {
			variables(t, map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": shared})
			for name, value := range c.set {
				t.Setenv(name, value)
			}
			got := FromEnvironment()
			v, err := got.Keys.GetWithContext(nil)
			if err != nil || got.Region != c.region || got.Endpoint != c.endpoint || v.AccessKeyID != c.key ||
				v.SecretAccessKey != c.secret || got.Keys.IsExpired() {
				t.Errorf("%+v, %+v, %v", got, v, err)
			}
		})
	}
}

// TestEnvironmentRole requests the keys of the machine's role when they are needed, if there are no other keys.
func TestEnvironmentRole(t *testing.T) {
	asked := 0
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
			fmt.Fprint(w, "token")
		case r.Header.Get("X-aws-ec2-metadata-token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(w, "reader")
		default:
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"id of %s","SecretAccessKey":"s","Token":"t","Expiration":%q}`,
				filepath.Base(r.URL.Path), time.Now().Add(time.Hour).Format(time.RFC3339))
		}
	}))
	defer machine.Close()
	variables(t, map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": machine.URL})
	c := FromEnvironment()
	if asked != 0 {
		t.Error("the machine is asked before an object is")
	}
	for range 2 {
		if v, err := c.Keys.GetWithContext(nil); err != nil || v.AccessKeyID != "id of reader" || v.SessionToken != "t" {
			t.Errorf("%+v, %v", v, err)
		}
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	if v, err := FromEnvironment().Keys.GetWithContext(nil); err != nil || !v.SignerType.IsAnonymous() || asked != 3 {
		t.Errorf("%+v, %v: the machine was asked %d times, want 3", v, err, asked)
	}
}

// TestEnvironmentNobody sends requests without a signature if no service answers, and does not ask it again.
func TestEnvironmentNobody(t *testing.T) {
	nobody := httptest.NewServer(http.NotFoundHandler()) // a service that knows no roles
	defer nobody.Close()
	variables(t, map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": nobody.URL})
	c := FromEnvironment()
	v, err := c.Keys.GetWithContext(nil)
	if err != nil || !v.SignerType.IsAnonymous() || c.Keys.IsExpired() {
		t.Errorf("%+v, %v", v, err)
	}
	// If a variable names a role, its service must answer.
	variables(t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": nobody.URL, "AWS_EC2_METADATA_DISABLED": "true"})
	if v, err := FromEnvironment().Keys.GetWithContext(nil); err == nil {
		t.Errorf("%+v without an error", v)
	}
}
