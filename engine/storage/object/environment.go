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
	own   credentials.Chain // of variables and profiles
	role  credentials.IAM
	named bool // the role, by variables
	none  bool // nobody has keys
	owned bool // own has them
	fixed bool // they do not expire: the library would read the files again for each request
}

func newKeys(region string) *keys {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the service is the machine's own
	transport.DialContext = (&net.Dialer{Timeout: roleDial}).DialContext
	k := &keys{own: credentials.Chain{Providers: []credentials.Provider{&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{Profile: os.Getenv("AWS_PROFILE")}}}}
	k.role = credentials.IAM{Client: &http.Client{Transport: transport, Timeout: roleMax}, Region: region}
	k.named = os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")+
		os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != ""
	if !k.named {
		k.role.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
		k.none = strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true")
	}
	return k
}

// Retrieve is part of [credentials.Provider].
func (k *keys) Retrieve() (credentials.Value, error) { return k.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext is part of [credentials.Provider].
func (k *keys) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := k.own.RetrieveWithCredContext(c)
	if k.owned = err == nil && v.AccessKeyID != ""; k.owned || k.none {
		k.fixed = v.Expiration.IsZero()
		return v, err
	}
	if v, err = k.role.RetrieveWithCredContext(c); err != nil && !k.named {
		k.none = true
		return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
	}
	return v, err
}

// IsExpired is part of [credentials.Provider].
func (k *keys) IsExpired() bool {
	if k.owned {
		return !k.fixed && k.own.IsExpired()
	}
	return !k.none && k.role.IsExpired()
}
