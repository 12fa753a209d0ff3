package policies

import (
	"maps"
	"slices"
	"strings"
)

// otherWords are what other libraries, or people, call a setting or a section of
// ours. Nothing writes to it.
var otherWords = map[string]string{
	"attempts": "max_attempts", "retries": "max_attempts", "max_retries": "max_attempts", "retry_count": "max_attempts",
	"delay": "base_delay", "initial_delay": "base_delay", "min_delay": "base_delay", "initial_interval": "base_delay",
	"max_interval": "max_delay", "max_backoff": "max_delay",
	"backoff": "backoff_strategy", "strategy": "backoff_strategy",
	"idempotent_only": "retry_on_idempotent_only",
	"threshold":       "failure_threshold", "max_failures": "failure_threshold",
	"reset_timeout": "recovery_timeout", "open_timeout": "recovery_timeout", "wait_duration": "recovery_timeout",
	"cooldown_secs": "cooldown", "cool_down": "cooldown", "cooldown_time": "cooldown",
	"half_open_max_calls": "half_open_max_successes", "success_threshold": "half_open_max_successes",
	"multiplier": "recovery_multiplier", "disabled": "enabled",
	"timeout": "total_timeout", "per_attempt_timeout": "attempt_timeout", "call_timeout": "attempt_timeout",
	"retries_policy": sectionRetry, "retry_policy": sectionRetry,
	"circuit": sectionCircuit, "breaker": sectionCircuit, "cb": sectionCircuit, "circuitbreaker": sectionCircuit,
}

// meant guesses what an unknown key of an override's section should have been: ""
// if there is no good guess, a path if it belongs elsewhere.
func meant(section, key string) string {
	const short = 4 // a slip in less may be anything
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if guess := known(section, key); guess != "" {
		return guess
	}
	if guess := nearest(key, sectionKeys(section)); guess != "" || len(key) < short {
		return guess
	}
	return known(section, nearest(key, slices.Sorted(maps.Keys(otherWords))))
}

// known is the key that a word stands for, ours or another library's: "" if none, a path
// if it belongs elsewhere.
func known(section, word string) string {
	if ours, ok := otherWords[word]; ok {
		word = ours
	}
	if slices.Contains(sectionKeys(section), word) {
		return word
	}
	for i := range fields { // right key, wrong place
		if fields[i].key == word {
			return fields[i].path()
		}
	}
	return ""
}

// sectionKeys lists what may stand in a section; "" is the override itself.
func sectionKeys(section string) []string {
	var keys []string
	if section == "" {
		keys = append(keys, sectionRetry, sectionCircuit)
	}
	for i := range fields {
		if fields[i].section == section {
			keys = append(keys, fields[i].key)
		}
	}
	return keys
}

// nearest returns the candidate that word is a slip of, in whatever case, or "".
func nearest(word string, candidates []string) string {
	const longest = 64 // keeps the cost of a hostile key small
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		lower := strings.ToLower(c)
		d := distance(word, lower)
		// "expo" is far from "exponential" by distance, and clearly meant.
		if len(word) >= 3 && strings.HasPrefix(lower, word) {
			d = 1
		}
		if d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func didYouMean(guess string) string {
	if guess == "" {
		return ""
	}
	return ` (did you mean "` + guess + `"?)`
}
