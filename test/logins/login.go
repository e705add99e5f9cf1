package logins

import (
	"fmt"
	"net"
	"strings"
)

// login is one login of a client.
type login struct {
	addr     string // HOST:PORT
	user     string
	password string
	tls      bool
	compress bool
}

// line is the login as the programs read it.
func (l login) line() string {
	host, port, _ := net.SplitHostPort(l.addr)
	return strings.Join([]string{host, port, l.user, l.password, digit(l.tls), digit(l.compress)}, "\t")
}

func digit(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

// answer is what became of a login.
type answer struct {
	ok     bool
	user   string // CURRENT_USER()
	thread string // CONNECTION_ID()
	code   string // of the error
	text   string
}

// parseAnswer reads the line of a program.
func parseAnswer(line string) (answer, error) {
	fields := strings.SplitN(line, "\t", 3)
	switch {
	case len(fields) == 3 && fields[0] == "ok":
		return answer{ok: true, user: fields[1], thread: fields[2]}, nil
	case len(fields) == 3 && fields[0] == "no":
		return answer{code: fields[1], text: fields[2]}, nil
	}
	return answer{}, fmt.Errorf("no answer to a login: %q", line)
}

func (a answer) String() string {
	if a.ok {
		return "ok"
	}
	return fmt.Sprintf("%s %q", a.code, a.text)
}
