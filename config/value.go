package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is where a setting's text goes. SetAll gets all that one source says
// about the setting and replaces what an earlier source said.
type value interface {
	SetAll(texts []string) error
	Strings() []string
}

// scalar is a value with one text.
type scalar[T any] struct {
	at     *T
	parse  func(string) (T, error)
	format func(T) string
}

func (v scalar[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.at = parsed
	return nil
}

func (v scalar[T]) SetAll(texts []string) error {
	if len(texts) != 1 {
		return errors.New("want one value")
	}
	return v.Set(texts[0])
}

func (v scalar[T]) Strings() []string { return []string{v.format(*v.at)} }

// profileValue reads a profile and refuses those that do not exist yet.
func profileValue(at *Profile) scalar[Profile] {
	return scalar[Profile]{
		at: at,
		parse: func(s string) (Profile, error) {
			switch p := Profile(s); p {
			case ProfileLoader, ProfileOff:
				return p, nil
			case ProfileApp, ProfileMigrate:
				return "", fmt.Errorf("profile %s is not built yet: use %s, or %s to relay everything", s, ProfileLoader, ProfileOff)
			}
			return "", fmt.Errorf("%q is not a profile: there are loader, app, migrate and off", s)
		},
		format: func(p Profile) string { return string(p) },
	}
}

func enumValue[T ~string](at *T, allowed ...T) scalar[T] {
	return scalar[T]{
		at: at,
		parse: func(s string) (T, error) {
			if slices.Contains(allowed, T(s)) {
				return T(s), nil
			}
			names := make([]string, len(allowed))
			for i := range allowed {
				names[i] = string(allowed[i])
			}
			return "", fmt.Errorf("%q is none of %s", s, strings.Join(names, ", "))
		},
		format: func(v T) string { return string(v) },
	}
}

func bytesValue(at *Bytes, least, most Bytes) scalar[Bytes] {
	return scalar[Bytes]{at: at, format: Bytes.String, parse: func(s string) (Bytes, error) {
		b, err := parseBytes(s)
		return b, errors.Join(err, between(err == nil, b, least, most))
	}}
}

func countValue(at *int, least, most int) scalar[int] {
	return scalar[int]{at: at, format: strconv.Itoa, parse: func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // then it is the largest there is
			return 0, fmt.Errorf("%q is not a whole number", s)
		}
		return n, between(true, n, least, most)
	}}
}

func rowsValue(at *Rows) scalar[Rows] {
	return scalar[Rows]{at: at, format: Rows.String, parse: func(s string) (Rows, error) {
		if s == "auto" {
			return RowsAuto, nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%q is neither auto nor a whole number", s)
		}
		return Rows(n), between(true, n, 1, math.MaxInt32)
	}}
}

func durationValue(at *time.Duration, least, most time.Duration) scalar[time.Duration] {
	return scalar[time.Duration]{at: at, format: formatDuration, parse: func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil {
			return d, between(true, d, least, most)
		}
		if _, plain := strconv.ParseFloat(s, 64); plain == nil {
			return 0, fmt.Errorf("%q has no unit: write %ss or %sms", s, s, s)
		}
		return 0, fmt.Errorf("%q is not a duration: write 500ms, 30s or 1m30s", s)
	}}
}

// formatDuration writes 1m rather than 1m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func textValue(at *string) scalar[string] {
	return scalar[string]{
		at:     at,
		parse:  func(s string) (string, error) { return s, nil },
		format: func(s string) string { return s },
	}
}

func secretValue(at *Secret) scalar[Secret] {
	return scalar[Secret]{
		at: at,
		parse: func(s string) (Secret, error) {
			if s == "" {
				return Secret{}, nil
			}
			return NewSecret(s), nil
		},
		format: Secret.String,
	}
}

// backendValue sets all of a backend but its password, which may come from
// elsewhere too: layer decides which one counts.
func backendValue(d *draft) scalar[Backend] {
	return scalar[Backend]{
		at: &d.Backend,
		parse: func(s string) (Backend, error) {
			b, err := parseBackend(s)
			if err != nil {
				return Backend{}, err
			}
			d.named, d.urlPassword = true, b.Password
			b.Password, b.PasswordFile = d.Backend.Password, d.Backend.PasswordFile
			files := d.Backend.TLS
			files.Mode = b.TLS.Mode
			b.TLS = files
			return b, nil
		},
		format: Backend.String,
	}
}

// between checks the range of a value that could be read.
func between[T int | int64 | Bytes | time.Duration](readable bool, v, least, most T) error {
	if !readable || v >= least && v <= most {
		return nil
	}
	text := func(v T) string {
		if d, ok := any(v).(time.Duration); ok {
			return formatDuration(d)
		}
		return fmt.Sprint(v)
	}
	if any(most) == any(Bytes(math.MaxInt64)) {
		return fmt.Errorf("%s is less than %s", text(v), text(least))
	}
	return fmt.Errorf("%s is out of range: %s to %s", text(v), text(least), text(most))
}
