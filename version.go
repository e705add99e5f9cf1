package main

import (
	"runtime"
	"runtime/debug"
)

// release is set by the build: -ldflags "-X main.release=v1.2.3".
var release string

// version names the release, or the commit if there is none, and the compiler.
func version() string {
	name := release
	if info, ok := debug.ReadBuildInfo(); ok && name == "" {
		name = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				name = s.Value
			}
		}
	}
	if name == "" || name == "(devel)" {
		name = "unreleased"
	}
	return name + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
