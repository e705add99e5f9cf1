package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Backend is the server behind sluice and the service account on it.
type Backend struct {
	Network      string // tcp or unix, as net.Dial takes it; empty when no backend is named
	Address      string // host:port or the path of a socket
	User         string // of the service account; empty when there is none
	Password     Secret
	PasswordFile string // where Password came from, if from a file
	TLS          BackendTLS
}

// HasServiceAccount reports whether journaled rows can be applied: sluice does
// that with an account of its own, never with a client's.
func (b Backend) HasServiceAccount() bool { return b.User != "" }

// String returns the backend's address in the form that it is configured in,
// the password redacted.
func (b Backend) String() string {
	if b.Network == "" {
		return ""
	}
	account := ""
	if b.User != "" {
		account = url.PathEscape(b.User)
		if b.Password.Given() {
			account += ":" + redacted
		}
		account += "@"
	}
	tls := ""
	if b.TLS.On() {
		tls = "?tls=" + string(b.TLS.Mode)
	}
	if b.Network == "unix" {
		if account+tls == "" {
			return "unix:" + b.Address
		}
		return "mysql://" + account + "unix(" + b.Address + ")/" + tls
	}
	return "mysql://" + account + b.Address + "/" + tls
}

const backendForms = "write mysql://USER@HOST:PORT/, mysql://USER@unix(PATH)/ or, without a service account, HOST:PORT"

// parseBackend reads an address. unix:PATH is one too, so that serve can say that a
// socket needs a service account. It does not use net/url, whose errors quote
// the whole text with the password in it; no error here quotes any of it that
// could be one.
func parseBackend(s string) (Backend, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		return socketBackend(path)
	}
	rest, isURL := strings.CutPrefix(s, "mysql://")
	if !isURL {
		if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "@") {
			return Backend{}, errors.New("the scheme is not mysql; " + backendForms)
		}
		if strings.Contains(s, "@") {
			return Backend{}, errors.New("an account is only read after mysql://; " + backendForms)
		}
		return hostBackend(s)
	}

	account, host := "", rest
	if at := accountEnd(rest); at >= 0 {
		account, host = rest[:at], rest[at+1:]
	}
	b, err := locate(host)
	if err != nil {
		return Backend{}, err
	}
	user, password, hasPassword := strings.Cut(account, ":")
	if b.User, err = url.PathUnescape(user); err != nil {
		return Backend{}, errors.New("the user has a bad percent escape: write %25 for a percent sign")
	}
	if hasPassword {
		clear, err := url.PathUnescape(password)
		if err != nil {
			return Backend{}, errors.New("the password has a bad percent escape: write %25 for a percent sign")
		}
		b.Password = NewSecret(clear)
	}
	if b.User == "" && account != "" {
		return Backend{}, errors.New("there is a password and no user")
	}
	return b, nil
}

// locate reads what follows the account: an address, a slash, parameters.
func locate(s string) (Backend, error) {
	if inner, ok := strings.CutPrefix(s, "unix("); ok {
		end := strings.LastIndexByte(inner, ')')
		if end < 0 {
			return Backend{}, errors.New("unix( is not closed; " + backendForms)
		}
		mode, err := parseURLTail(inner[end+1:])
		if err != nil {
			return Backend{}, err
		}
		b, err := socketBackend(inner[:end])
		b.TLS.Mode = mode
		return b, err
	}
	end := strings.IndexAny(s, "/?")
	if end < 0 {
		end = len(s)
	}
	mode, err := parseURLTail(s[end:])
	if err != nil {
		return Backend{}, err
	}
	b, err := hostBackend(s[:end])
	b.TLS.Mode = mode
	return b, err
}

// parseURLTail reads the path and the parameters of a backend URL.
func parseURLTail(tail string) (mode BackendTLSMode, err error) {
	path, query, _ := strings.Cut(tail, "?")
	if path != "" && path != "/" {
		return mode, errors.New("nothing may follow the address but ?tls=...: the clients name their own schema")
	}
	for _, parameter := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		switch {
		case parameter == "":
		case name != "tls":
			return mode, errors.New("unknown parameter in the URL: there is only tls")
		default:
			if mode, err = parseBackendTLS(value); err != nil {
				return mode, err
			}
		}
	}
	return mode, nil
}

func socketBackend(path string) (Backend, error) {
	if err := checkSocketPath(path); err != nil {
		return Backend{}, err
	}
	return Backend{Network: "unix", Address: path}, nil
}

func hostBackend(s string) (Backend, error) {
	if s == "" {
		return Backend{}, errors.New("there is no host; " + backendForms)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil { // perhaps only the port is missing
		host, port, err = net.SplitHostPort(s + ":3306")
	}
	if err != nil || host == "" || strings.ContainsAny(host, " @(/") {
		return Backend{}, errors.New("the address is not HOST:PORT; " + backendForms)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Backend{}, errors.New("the port is not a number from 1 to 65535")
	}
	return Backend{Network: "tcp", Address: net.JoinHostPort(host, port)}, nil
}

// maxSocketPath is what fits into sockaddr_un on Linux, its final zero byte
// excluded.
const maxSocketPath = 107

func checkSocketPath(path string) error {
	if path == "" {
		return errors.New("unix: has no path behind it")
	}
	if len(path) > maxSocketPath {
		return fmt.Errorf("the socket's path has %d bytes and the system allows %d", len(path), maxSocketPath)
	}
	return nil
}
