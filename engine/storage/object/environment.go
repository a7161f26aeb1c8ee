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

// FromEnvironment returns the configuration that the variables of the environment say. Keys are looked for when an object
// is first asked for.
func FromEnvironment() Config {
	c := Config{
		Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	}
	c.Keys = credentials.New(newKeys(c.Region))
	return c
}

const (
	roleDial = time.Second     // for the machine's service to be reached: where there is none, nobody answers at all
	roleMax  = 5 * time.Second // for one answer
)

// keys are those of variables or a profile, or else of the role that the machine or container has. Where the variables
// name no role and no machine answers, there are no keys, and objects are asked for without a signature.
type keys struct {
	credentials.Chain
	role  credentials.IAM
	named bool // the role, by variables
	fixed bool // they do not expire: the library would read files and ask the machine again for each request
}

func newKeys(region string) *keys {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the service is the machine's own
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
		v, err = k.role.RetrieveWithCredContext(c) // for the error, which the chain does not tell
	}
	k.fixed = err == nil && v.Expiration.IsZero()
	return v, err
}

// IsExpired is part of [credentials.Provider].
func (k *keys) IsExpired() bool { return !k.fixed && k.Chain.IsExpired() }
