package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseBackend(t *testing.T) {
	tcp := func(address, user string, password ...string) Backend {
		b := Backend{Network: "tcp", Address: address, User: user}
		if len(password) > 0 {
			b.Password = NewSecret(password[0])
		}
		return b
	}
	unix := func(path, user string, password ...string) Backend {
		b := tcp(path, user, password...)
		b.Network = "unix"
		return b
	}
	tls := func(b Backend, mode BackendTLSMode) Backend {
		b.TLS.Mode = mode
		return b
	}
	for text, want := range map[string]Backend{
		"mysql://u:p@h:1/?tls=true":            tls(tcp("h:1", "u", "p"), BackendTLSTrue),
		"mysql://h?tls=Skip-Verify":            tls(tcp("h:3306", ""), BackendTLSSkipVerify),
		"mysql://u@unix(/a)/?tls=preferred":    tls(unix("/a", "u"), BackendTLSPreferred),
		"mysql://unix(/a)?tls=1":               tls(unix("/a", ""), BackendTLSTrue),
		"mysql://u:p@h:3310/":                  tcp("h:3310", "u", "p"),
		"mysql://u:p@h:3310":                   tcp("h:3310", "u", "p"),
		"mysql://u@h":                          tcp("h:3306", "u"),
		"mysql://u:@h/?tls=":                   tcp("h:3306", "u", ""),
		"mysql://h:1?tls=false":                tcp("h:1", ""),
		"mysql://u:p@[::1]:3310/":              tcp("[::1]:3310", "u", "p"),
		"mysql://u:p@[::1]/":                   tcp("[::1]:3306", "u", "p"),
		"mysql://u:p@s@/:?x@h/":                tcp("h:3306", "u", "p@s@/:?x"),
		"mysql://u%40x:p%25%3a@h/":             tcp("h:3306", "u@x", "p%:"),
		"mysql://u:p@unix(/run/m.sock)/":       unix("/run/m.sock", "u", "p"),
		"mysql://u@unix(/run/(a)@b.sock)?tls=": unix("/run/(a)@b.sock", "u"),
		"mysql://unix(/run/m.sock)":            unix("/run/m.sock", ""),
		"unix:/run/m.sock":                     unix("/run/m.sock", ""),
		"unix:relative.sock":                   unix("relative.sock", ""),
		"127.0.0.1:3310":                       tcp("127.0.0.1:3310", ""),
		"[::1]:3310":                           tcp("[::1]:3310", ""),
		"db.example.org":                       tcp("db.example.org:3306", ""),
	} {
		got, err := parseBackend(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)

		// What String writes reads back as the same, but for the password.
		want.Password = Secret{}
		again, err := parseBackend(strings.Replace(got.String(), ":"+redacted, "", 1))
		require.NoError(t, err, got.String())
		require.Equal(t, want, again)
	}
}

func TestBackendMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "there is no host",
		"mysql://":                          "there is no host",
		"mysql://u:hush@":                   "there is no host",
		"mysql://u:hush@:3306/":             "the address is not HOST:PORT",
		"mysql://u:hush@h:x/":               "the port is not a number",
		"mysql://u:hush@h:0/":               "the port is not a number",
		"mysql://u:hush@h:70000/":           "the port is not a number",
		"mysql://u:hush@::1/":               "the address is not HOST:PORT",
		"mysql://u:hush@h/shop":             "nothing may follow the address",
		"mysql://u:hush@h/?tls=skip":        "tls is none of true, skip-verify",
		"mysql://u:hush@h/?ssl=1":           "unknown parameter",
		"mysql://u:hush%@h/":                "the password has a bad percent escape",
		"mysql://u%zz:hush@h/":              "the user has a bad percent escape",
		"mysql://:hush@h/":                  "there is a password and no user",
		"mysql://u:hush@unix(/a":            "unix( is not closed",
		"mysql://u:hush@unix()/":            "unix: has no path",
		"mariadb://u:hush@h/":               "the scheme is not mysql",
		"u:hush@h":                          "an account is only read after mysql://",
		"unix:":                             "unix: has no path",
		"unix:/" + strings.Repeat("x", 107): "the system allows 107",
	} {
		_, err := parseBackend(text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1": 1, "12B": 12, "64KB": 64000, "64KiB": 65536, "64 kib": 65536, "1k": 1024, "512M": 512 * MiB,
		"1.5GiB": 3 * GiB / 2, "2TiB": 2 * TiB, "3tb": 3e12, "9223372036854775807": 1<<63 - 1,
	} {
		got, err := parseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := parseBytes(got.String())
		require.NoError(t, err)
		require.Equal(t, want, again, got.String())
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "1e3", "0x10", "1PB", "1 2", "1..2", "9223372036854775808", "9000000TiB", "1_000", "1.5.5MB"} {
		_, err := parseBytes(text)
		require.Error(t, err, text)
	}
}
