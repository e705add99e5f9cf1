package config

import "strings"

// closest returns the candidates that a mistyped name most likely stood for:
// those of which it is the last part (delay for window.delay), or the one that
// is spelled most alike.
func closest(name string, candidates []string) []string {
	name = strings.ToLower(name)
	var meant []string
	for _, c := range candidates {
		if strings.HasSuffix(c, "."+name) || strings.HasSuffix(c, "-"+name) {
			meant = append(meant, c)
		}
	}
	if len(meant) > 0 {
		return meant
	}
	least := max(1, len(name)/3)
	for _, c := range candidates {
		if d := distance(name, c); d < least || d == least && len(meant) == 0 {
			meant, least = []string{c}, d
		}
	}
	return meant
}

// didYouMean words a suggestion, or returns nothing if there is none.
func didYouMean(meant []string) string {
	if len(meant) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(meant, " or ") + "?"
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
