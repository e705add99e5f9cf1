package rewrite

import "strings"

// equalFold compares identifiers as the server does for column names: without
// regard to case (MySQL manual, "Identifier case sensitivity").
func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
