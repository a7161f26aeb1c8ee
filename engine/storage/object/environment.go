package object

import (
	"cmp"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// FromEnvironment returns the configuration of the environment variables. Keys are looked up with the first request.
func FromEnvironment() Config {
	c := Config{
		Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	}
	c.Keys = credentials.New(newKeys(c.Region))
	return c
}

const (
	roleDial = time.Second     // time to connect to the machine's service; without such a service nothing answers
	roleMax  = 5 * time.Second // time for one response
)

// keys provides the keys of variables or of a profile, or else of the role of the machine or container. If the
// variables name no role and no machine answers, there are no keys, and requests are not signed.
type keys struct {
	credentials.Chain
	role  credentials.IAM
	named bool // variables name the role
	fixed bool // the keys do not expire; otherwise the library reads files and asks the machine for each request
}

func newKeys(region string) *keys {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the service is on the machine itself
	transport.DialContext = (&net.Dialer{Timeout: roleDial}).DialContext
	k := &keys{role: credentials.IAM{Client: &http.Client{Transport: transport, Timeout: roleMax}, Region: region}}
	k.Providers = []credentials.Provider{&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{Profile: os.Getenv("AWS_PROFILE")}}
	k.named = os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")+
		os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != ""
	if !k.named {
		k.role.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	if k.named || !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		k.Providers = append(k.Providers, &k.role)
	}
	return k
}

// RetrieveWithCredContext is part of [credentials.Provider].
func (k *keys) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := k.Chain.RetrieveWithCredContext(c)
	if v.AccessKeyID == "" && k.named {
		v, err = k.role.RetrieveWithCredContext(c) // get the error, which the chain drops
	}
	k.fixed = err == nil && v.Expiration.IsZero()
	return v, err
}

// IsExpired is part of [credentials.Provider].
func (k *keys) IsExpired() bool { return !k.fixed && k.Chain.IsExpired() }
