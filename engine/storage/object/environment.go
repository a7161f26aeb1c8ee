package object

import (
	"cmp"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// FromEnvironment returns the configuration that the variables, and the files that they name, say.
// lookup returns variables.
func FromEnvironment(lookup func(string) string) Config {
	profile := cmp.Or(lookup("AWS_PROFILE"), lookup("AWS_DEFAULT_PROFILE"), "default")
	shared := readProfile(cmp.Or(lookup("AWS_CONFIG_FILE"), homeFile(".aws/config")), profile)
	c := Config{
		Endpoint: cmp.Or(lookup("AWS_ENDPOINT_URL_S3"), lookup("AWS_ENDPOINT_URL"), shared["endpoint_url"]),
		Region:   cmp.Or(lookup("AWS_REGION"), lookup("AWS_DEFAULT_REGION"), shared["region"]),
	}
	keys := readProfile(cmp.Or(lookup("AWS_SHARED_CREDENTIALS_FILE"), homeFile(".aws/credentials")), profile)
	if keys["aws_access_key_id"] == "" {
		keys = shared
	}
	switch {
	case lookup("AWS_ACCESS_KEY_ID") != "":
		c.Keys = credentials.NewStaticV4(lookup("AWS_ACCESS_KEY_ID"), lookup("AWS_SECRET_ACCESS_KEY"),
			lookup("AWS_SESSION_TOKEN"))
	case keys["aws_access_key_id"] != "":
		c.Keys = credentials.NewStaticV4(keys["aws_access_key_id"], keys["aws_secret_access_key"], keys["aws_session_token"])
	case !strings.EqualFold(lookup("AWS_EC2_METADATA_DISABLED"), "true") || namesRole(lookup):
		c.Keys = credentials.New(newRole(lookup, c.Region))
	}
	return c
}

// homeFile returns a file of the user's own folder, "" if there is none.
func homeFile(name string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(name))
}

// readProfile returns the settings of a profile in a file of them, none if there is no such file or
// profile:
//
//	[default]
//	region = eu-central-1
//	[profile work]
//	region = us-east-1
func readProfile(path, profile string) map[string]string {
	file, err := ini.LoadSources(ini.LoadOptions{AllowNestedValues: true, SkipUnrecognizableLines: true,
		IgnoreInlineComment: true}, path)
	if err != nil {
		return nil
	}
	for _, name := range []string{profile, "profile " + profile} {
		if section, err := file.GetSection(name); err == nil {
			return section.KeysHash()
		}
	}
	return nil
}

const (
	roleDial = time.Second     // for the machine's service to be reached: where there is none, nobody answers at all
	roleMax  = 5 * time.Second // for one answer
)

// namesRole reports whether the variables name a role of a container or of a web identity, rather
// than one of the machine.
func namesRole(lookup func(string) string) bool {
	return lookup("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+lookup("AWS_CONTAINER_CREDENTIALS_FULL_URI")+
		lookup("AWS_WEB_IDENTITY_TOKEN_FILE") != ""
}

// A role has the keys of the role that the machine or container has. It is asked for them when an
// object is first asked for. Where the variables name no role and no machine answers, there are no
// keys, and objects are asked for without a signature.
type role struct {
	from  credentials.IAM
	named bool // by variables
	none  bool // nobody answered
}

func newRole(lookup func(string) string, region string) *role {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the service is the machine's own
	transport.DialContext = (&net.Dialer{Timeout: roleDial}).DialContext
	r := &role{named: namesRole(lookup)}
	r.from = credentials.IAM{Client: &http.Client{Transport: transport, Timeout: roleMax}, Region: region}
	if !r.named {
		r.from.Endpoint = lookup("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	return r
}

// Retrieve is part of [credentials.Provider].
func (r *role) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext is part of [credentials.Provider].
func (r *role) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := r.from.RetrieveWithCredContext(c)
	if err != nil && !r.named {
		r.none = true
		return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
	}
	return v, err
}

// IsExpired is part of [credentials.Provider].
func (r *role) IsExpired() bool { return !r.none && r.from.IsExpired() }
