package logins

import "strings"

// difference is a login that comes to something else through sluice, and why.
type difference struct {
	why  string
	when func(a account, w way, direct, got answer) bool
}

var differences = []difference{
	{"the server asks for TLS on its own link, which is sluice's", func(a account, w way, _, got answer) bool {
		return a.needsTLS && got.ok == w.backend
	}},
	{"PHP encrypts the end of an empty password too, which sha256_password then denies; over TLS there is nothing to encrypt", func(a account, w way, _, got answer) bool {
		return strings.HasPrefix(a.identified, "WITH sha256_password BY ''") && !w.tls && w.backend && got.ok
	}},
	{"a password in the clear goes over no plain link", func(a account, w way, _, got answer) bool {
		return a.clear && !(w.tls && w.backend) && strings.Contains(got.text, "sluice: Access denied: the server wants the password in the clear")
	}},
}

// differs tells why a login may come to something else, or nothing.
func differs(a account, w way, direct, got answer) string {
	for _, d := range differences {
		if d.when(a, w, direct, got) {
			return d.why
		}
	}
	return ""
}
