package access

import "fmt"

// A Role says what a client may do; each includes those before it.
type Role int

// The roles.
const (
	Anyone Role = iota // needs neither token nor certificate
	Read
	Write
	Admin
)

var roleNames = [...]string{"anyone", "read", "write", "admin"}

// String returns the role's name in token files and in answers.
func (r Role) String() string { return roleNames[r] }

// parseRole returns the role of a line of a token file.
func parseRole(name string) (Role, error) {
	for r := Read; r <= Admin; r++ {
		if name == r.String() {
			return r, nil
		}
	}
	return Anyone, fmt.Errorf("the role must be read, write or admin")
}
