package wire

import (
	"bytes"
	"slices"
)

// ChangeUser is the payload of COM_CHANGE_USER (MySQL Internals "COM_CHANGE_USER").
type ChangeUser struct {
	User   string
	Schema string
	answer
}

// ParseChangeUser reads a command's payload. p is kept. What is not understood, which a
// server would refuse, is left out.
func ParseChangeUser(p []byte, caps Caps) *ChangeUser {
	f := fields{raw: p, at: 1}
	c := &ChangeUser{User: f.text()}
	c.raw, c.from = p, f.at
	if caps.Base&ClientSecureConn != 0 {
		c.Response = f.shortBytes()
	} else {
		c.Response = []byte(f.text())
	}
	c.to = f.at
	c.Schema = f.text()
	f.skip(2) // character set
	c.named(&f, caps.Base)
	return c
}

// answer is a client's first answer to the server's challenge: in a login, and in
// COM_CHANGE_USER.
type answer struct {
	Plugin   string // how Response was made; empty if not said
	Response []byte

	raw              []byte // the whole payload
	from, to         int    // of the response and its length in raw
	nameFrom, nameTo int    // of the plugin's name without its zero; 0 if there is none
}

func (a *answer) named(f *fields, caps uint32) {
	if caps&ClientPluginAuth == 0 || f.failed || f.at >= len(f.raw) {
		return
	}
	a.nameFrom = f.at
	a.Plugin = f.text()
	a.nameTo = a.nameFrom + len(a.Plugin)
}

// noPlugin is the name of no plugin.
const noPlugin = "sluice_none"

// Withheld is the payload without the response, and for a plugin that does not exist: the
// server asks for another response then, with the account's own plugin.
func (a *answer) Withheld() []byte {
	out := append(slices.Clone(a.raw[:a.from]), 0)
	if a.nameFrom == 0 {
		return append(out, a.raw[a.to:]...)
	}
	out = append(out, a.raw[a.to:a.nameFrom]...)
	out = append(out, noPlugin...)
	return append(out, a.raw[a.nameTo:]...)
}

// fields takes fields off a payload. After one that is not whole, failed is set and the
// others are empty.
type fields struct {
	raw    []byte
	at     int
	failed bool
}

func (f *fields) skip(n int) []byte {
	if f.failed || n < 0 || n > len(f.raw)-f.at {
		f.failed = true
		return nil
	}
	f.at += n
	return f.raw[f.at-n : f.at]
}

// text takes a string up to a zero byte. One that ends with the payload is returned all
// the same.
func (f *fields) text() string {
	if f.failed {
		return ""
	}
	rest := f.raw[f.at:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		f.failed, f.at = true, len(f.raw)
		return string(rest)
	}
	f.at += end + 1
	return string(rest[:end])
}

func (f *fields) shortBytes() []byte {
	if n := f.skip(1); n != nil {
		return f.skip(int(n[0]))
	}
	return nil
}

func (f *fields) lenencBytes() []byte {
	if f.failed {
		return nil
	}
	v, n := Lenenc(f.raw[f.at:])
	if n == 0 || v > uint64(len(f.raw)-f.at-n) {
		f.failed = true
		return nil
	}
	f.at += n
	return f.skip(int(v))
}
