package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeTable is the table of settings as README.md has it.
func readmeTable() string {
	var b strings.Builder
	b.WriteString("| key | flag | environment | default | meaning |\n|---|---|---|---|---|\n")
	code := func(text string) string {
		if text == "" {
			return "none"
		}
		return "`" + text + "`"
	}
	for _, s := range settings {
		flag := ""
		if !s.noFlag {
			flag = "--" + s.flag()
		}
		value := strings.Join(s.at(&draft{Config: Default()}).Strings(), " ")
		b.WriteString("| " + strings.Join([]string{
			code(s.key), code(flag), code(s.env()), code(value), strings.ReplaceAll(s.usage, "|", `\|`),
		}, " | ") + " |\n")
	}
	return b.String()
}

// The table in README.md is the one in settings.go.
func TestReadmeTable(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	table := readmeTable()
	if !strings.Contains(string(text), "\n"+table+"\n") {
		t.Fatalf("README.md has another table of settings than this one:\n%s", table)
	}
}
