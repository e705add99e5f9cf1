package config

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Secret is a string that does not print. The value sits behind a pointer, so
// that even a formatter that reaches it through an unexported field, and
// therefore cannot call its methods, shows an address and no text.
type Secret struct {
	value *string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal returns the value. Only the code that sends it to the server calls it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Given reports whether there is a value, which may be the empty string.
func (s Secret) Given() bool { return s.value != nil }

// String returns a fixed text, or nothing for a secret that was not given.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return redacted
}

// Format answers every verb of package fmt with String.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String()) // fmt.State swallows write errors itself
}

// MarshalText redacts in every encoder that asks for text: JSON, YAML, XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
