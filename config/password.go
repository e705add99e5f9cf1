package config

import (
	"errors"
	"os"
	"strings"
)

// passwordSource is where a password of the service account was found.
type passwordSource struct {
	secret Secret
	file   string
	inURL  bool
}

// layer reads one source of settings and takes the password out of what it
// found. A later source wins, in whichever of the three ways it gives one. A
// password inside a URL belongs to that URL: it goes when a later source names
// another.
func (l *loader) layer(read func()) {
	d := l.draft
	d.named, d.urlPassword, d.Backend.Password, d.Backend.PasswordFile = false, Secret{}, Secret{}, ""
	read()
	var found []passwordSource
	if d.urlPassword.Given() {
		found = append(found, passwordSource{secret: d.urlPassword, inURL: true})
	}
	if d.Backend.Password.Given() {
		found = append(found, passwordSource{secret: d.Backend.Password})
	}
	if d.Backend.PasswordFile != "" {
		found = append(found, passwordSource{file: d.Backend.PasswordFile})
	}
	switch {
	case len(found) > 1:
		l.complainOf([]string{"backend.password", "backend.password_file", backendKey}, "one source gives the password more than once: keep one of the URL, backend.password and backend.password_file")
	case len(found) == 1:
		l.password = &found[0]
	case d.named && l.password != nil && l.password.inURL:
		l.password = nil
	}
}

// settlePassword gives the backend the password that won.
func (l *loader) settlePassword() {
	b := &l.draft.Backend
	b.Password, b.PasswordFile = Secret{}, ""
	if l.password == nil {
		return
	}
	b.Password, b.PasswordFile = l.password.secret, l.password.file
	if b.PasswordFile != "" {
		text, err := os.ReadFile(b.PasswordFile)
		if err != nil {
			var file *os.PathError
			if errors.As(err, &file) {
				err = file.Err
			}
			l.complain("backend.password_file", "cannot read the password from %s: %v", b.PasswordFile, err)
			return
		}
		clear := strings.TrimRight(string(text), "\r\n")
		if clear == "" {
			l.complain("backend.password_file", "%s is empty", b.PasswordFile)
			return
		}
		b.Password = NewSecret(clear)
	}
	if b.Network != "" && b.User == "" {
		l.complain(backendKey, "there is a password and no user: write mysql://USER@...")
	}
}

// hidePassword warns of a password in a --backend flag and overwrites it in the
// memory that other users can read as this process's command line.
func (l *loader) hidePassword(texts []string) {
	for _, text := range texts {
		from, to := passwordSpan(text)
		if from == to {
			continue
		}
		warning := "--backend: a password on the command line is visible to other users of the machine"
		if blankArgument(text, from, to) {
			warning += " until sluice has started, and stays in the shell's history"
		}
		l.warnings = append(l.warnings, warning+"; use SLUICE_BACKEND_PASSWORD or backend.password_file")
	}
}

// passwordSpan returns where the password is in the text of a backend, also if
// the text has mistakes elsewhere. The last @ ends the account, so that a
// password may contain one.
func passwordSpan(text string) (from, to int) {
	start := 0
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + len("://")
	}
	end := accountEnd(text[start:])
	if end < 0 {
		return 0, 0
	}
	_, password, ok := strings.Cut(text[start:start+end], ":")
	if !ok {
		return 0, 0
	}
	return start + end - len(password), start + end
}

// accountEnd returns the index of the @ behind the account, or -1.
func accountEnd(text string) int {
	if at := strings.LastIndex(text, "@unix("); at >= 0 {
		return at
	}
	return strings.LastIndex(text, "@")
}
