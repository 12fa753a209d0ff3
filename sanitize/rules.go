package sanitize

import "strings"

// The rules are data: what may be extended without touching the scanner. All
// words are lower case; the names among them are written without the joints
// between their parts, so that "apikey" stands for api_key, API-KEY, api.key
// and apiKey alike.

// schemes begin a value that goes on after a space.
var schemes = [...]string{"bearer", "basic", "digest", "negotiate", "apikey", "token", "aws4-hmac-sha256"}

// literals are values that say nothing, words that other sanitisers leave, and what
// became of a value.
var literals = [...]string{
	"null", "nil", "none", "undefined", "true", "false", "yes", "no",
	"redacted", "filtered", "masked", "hidden", "removed", "omitted", "sensitive", "sensitive value", "known after apply",
	"absent", "expired", "invalid", "missing", "not set", "present", "required", "revoked", "unset",
}

// plainWords hold digits and are no secrets. They begin the texts of errors.
var plainWords = [...]string{
	"asn1", "base32", "base64", "ec2", "ed25519", "hs256", "http1", "http2", "ipv4", "ipv6", "k8s", "md5",
	"oauth2", "pkcs1", "pkcs8", "pkcs12", "rs256", "s3", "sha1", "sha256", "sha384", "sha512", "utf8", "x509",
}

// plainUsers are user names in URLs that are no tokens: ftp://anonymous@host.
var plainUsers = [...]string{
	"admin", "anonymous", "app", "ftp", "git", "guest", "hg", "postgres", "root", "svn", "user",
}

// complaints are the words by which the text of an error about an authorization is
// told from a header's value.
var complaints = [...]string{
	"denied", "error", "expired", "failed", "failure", "forbidden", "header", "insufficient", "invalid", "malformed",
	"missing", "needed", "not", "refused", "rejected", "required", "revoked", "unauthorized", "unknown",
}

// remarks are the other words by which a text goes on that quotes an empty setting:
// "password= is empty".
var remarks = [...]string{
	"a", "and", "are", "be", "but", "by", "cannot", "does", "empty", "for", "from", "has", "in", "is", "must", "of", "on", "or", "should",
	"the", "to", "was", "will", "with",
}

// addressSchemes begin addresses of people: sip:alice@host:5060.
var addressSchemes = [...]string{"sip", "sips", "mailto", "xmpp", "acct", "im"}

// protocols stand between the @ and the address in brackets in DSNs of MySQL.
var protocols = [...]string{"tcp", "tcp4", "tcp6", "udp", "unix", "pipe", "memory", "cloudsql", "cloudsql-mysql"}

// usages are the words that stand for a value, or go on with a sentence, behind the
// name of an option.
var usages = [...]string{
	"a", "an", "as", "at", "by", "file", "flag", "for", "from", "in", "into", "option", "on", "path", "string", "the", "to", "value",
	"when", "with", "without", "will", "argument", "parameter", "instead", "if", "of", "can", "may",
}

// client is commands that have their password behind a letter: glued to it, or as the
// next word.
type client struct {
	letter        byte
	glued, spaced []string
}

var clients = [...]client{
	{letter: 'p', glued: []string{"mysql", "mariadb", "sshpass", "7z", "unrar", "innobackupex", "xtrabackup"}, spaced: []string{"login", "sshpass", "mongo", "htpasswd"}},
	{letter: 'a', spaced: []string{"redis-cli"}},
	{letter: 'w', spaced: []string{"ldap"}},
	{letter: 'P', spaced: []string{"sqlcmd", "bcp", "ssh-keygen"}},
	{letter: 'N', spaced: []string{"ssh-keygen"}},
}

// lexers are the words before "token" when a parser speaks of one.
var lexers = [...]string{"expected", "illegal", "invalid", "next", "unexpected"}

// oneOf says whether a text is in the list, in whatever case.
func oneOf(list []string, text string) bool {
	for _, word := range list {
		if len(word) == len(text) && strings.EqualFold(word, text) {
			return true
		}
	}
	return false
}
