package config

import (
	"fmt"
	"slices"
	"strings"
)

// Compression is a set of algorithms that clients may use, as in MySQL's
// protocol_compression_algorithms. Without Uncompressed they have to use another one.
type Compression uint8

// The algorithms.
const (
	Zlib Compression = 1 << iota
	Zstd
	Uncompressed
)

// algorithmNames are MySQL's, in the order of their bits.
var algorithmNames = []string{"zlib", "zstd", "uncompressed"}

// String lists the algorithms as they are configured.
func (c Compression) String() string {
	var names []string
	for i, name := range algorithmNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// compressionValue reads names separated by commas.
func compressionValue(at *Compression) scalar[Compression] {
	return scalar[Compression]{at: at, format: Compression.String, parse: func(s string) (Compression, error) {
		var c Compression
		for name := range strings.SplitSeq(s, ",") {
			i := slices.Index(algorithmNames, strings.ToLower(strings.TrimSpace(name)))
			if i < 0 {
				return 0, fmt.Errorf("%q is none of %s", name, strings.Join(algorithmNames, ", "))
			}
			c |= 1 << i
		}
		return c, nil
	}}
}
