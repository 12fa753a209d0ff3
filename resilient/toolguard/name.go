package toolguard

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/seed42274fcc/stoic/sanitize"
)

// CircuitName is the name of a tool's circuit, in the store and for operators. It is the
// same for the same pair in every process, and another for every other one, whatever
// characters are in them:
//
//	toolguard/KEY/t:TOOL
//	toolguard/KEY/h:HASH
//
// KEY is "-" for the key "", else a hash of it, since a key may be a secret. The tool's
// name is hashed where it is longer than 64 characters, has others than letters, digits,
// "_", "-" and ".", or looks like a secret. A hash is the first half of SHA-256, in hex.
func CircuitName(key, tool string) string {
	name := "toolguard/" + keyPart(key) + "/t:" + tool
	if len(tool) == 0 || len(tool) > longestName || strings.IndexFunc(tool, isStrange) >= 0 || sanitize.Message(name) != name {
		name = "toolguard/" + keyPart(key) + "/h:" + hash(tool)
	}
	return name
}

func keyPart(key string) string {
	if key == "" {
		return "-"
	}
	return hash(key)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:len(sum)/2])
}

func isStrange(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.", r))
}
