package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. It reads 512MiB (powers of 1024), 512MB (powers of
// 1000), 512M (as MySQL's own option files: powers of 1024) and plain bytes.
type Bytes int64

// The binary units.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

var byteUnits = map[string]Bytes{
	"": 1, "b": 1,
	"k": KiB, "m": MiB, "g": GiB, "t": TiB,
	"kib": KiB, "mib": MiB, "gib": GiB, "tib": TiB,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// parseBytes reads a size. Fractions are read too: 1.5GiB.
func parseBytes(s string) (Bytes, error) {
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, ok := byteUnits[strings.ToLower(s[len(number):])]
	number = strings.TrimSpace(number)
	if !ok || number == "" || strings.ContainsFunc(number, notInNumber) {
		return 0, fmt.Errorf("%q is not a size: write 512MiB, 64KB or a number of bytes", s)
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n > math.MaxInt64/int64(unit) {
			return 0, fmt.Errorf("%q is too large", s)
		}
		return Bytes(n) * unit, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: write 512MiB, 64KB or a number of bytes", s)
	}
	if f *= float64(unit); f >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return Bytes(f), nil
}

func notInNumber(r rune) bool { return (r < '0' || r > '9') && r != '.' }

// String returns the size in the largest binary or decimal unit that divides
// it, so that reading it back gives the same number.
func (b Bytes) String() string {
	if b == 0 {
		return "0"
	}
	for _, u := range []struct {
		size Bytes
		name string
	}{
		{TiB, "TiB"}, {1e12, "TB"}, {GiB, "GiB"}, {1e9, "GB"},
		{MiB, "MiB"}, {1e6, "MB"}, {KiB, "KiB"}, {1e3, "KB"},
	} {
		if b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
