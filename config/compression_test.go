package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompression(t *testing.T) {
	var c Compression
	v := compressionValue(&c)
	for text, want := range map[string]Compression{
		"zlib": Zlib, "zstd,zlib": Zlib | Zstd, "ZSTD, uncompressed": Zstd | Uncompressed, "uncompressed": Uncompressed,
	} {
		require.NoError(t, v.Set(text))
		require.Equal(t, want, c)
		require.NoError(t, v.Set(c.String()))
		require.Equal(t, want, c)
	}
	for _, text := range []string{"", "zlib,", "lz4", "zlib;zstd", "off"} {
		require.ErrorContains(t, v.Set(text), "is none of zlib, zstd, uncompressed")
	}
}
