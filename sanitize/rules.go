package sanitize

// The rules are data: what may be extended without touching the scanner. All
// words are lower case; the names among them are written without the joints
// between their parts, so that "apikey" stands for api_key, API-KEY, api.key
// and apiKey alike.

// secretNames are the names whose values are secrets. A name counts with
// anything in front of it (DB_PASSWORD, userPassword) unless it is marked whole:
// then it must be a word of its own, since it also ends harmless ones. The value
// of one marked pairs is a list of pairs, of which none ends it.
var secretNames = [...]struct {
	name  string
	whole bool
	pairs bool
}{
	{name: "apikey"},
	{name: "password"},
	{name: "passwords"},
	{name: "passwd"},
	{name: "passphrase"},
	{name: "pwd", whole: true},
	{name: "secret"},
	{name: "secrets"},
	{name: "secretkey"},
	{name: "credential"},
	{name: "credentials"},
	{name: "token"}, // auth_token, refresh_token; not the plural: models count those
	{name: "privatekey"},
	{name: "connectionstring", pairs: true},
	{name: "accesskey"},
	{name: "bearer", whole: true},
	{name: "sessionid"},
}

// headerNames are the names whose value is all of the line when they stand in
// a header. They are compared whole, after an optional prefix of words.
var headerNames = [...]string{"authorization", "proxyauthorization", "xapikey"}

// variants may follow a secret's name, as may digits: password_old, apiKey2,
// SECRET_KEY_BASE. Any other word behind it names something that is no secret:
// token_type, password_policy, secret_name.
var variants = [...]string{
	"old", "new", "current", "previous", "confirm", "confirmation", "hash", "base", "value",
	"primary", "secondary", "backup", "prod", "production", "staging", "dev", "test",
}

// schemes begin a value that goes on after a space.
var schemes = [...]string{"bearer", "basic", "digest", "negotiate", "apikey", "token", "aws4-hmac-sha256"}

// literals are values that say nothing, and words that other sanitisers leave.
var literals = [...]string{
	"null", "nil", "none", "undefined", "true", "false", "yes", "no",
	"redacted", "filtered", "masked", "hidden", "removed", "omitted",
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
var remarks = [...]string{"and", "are", "but", "cannot", "empty", "has", "is", "must", "or", "should", "was"}

// lexers are the words before "token" when a parser speaks of one.
var lexers = [...]string{"expected", "illegal", "invalid", "next", "unexpected"}

// oneOf says whether a text is in the list, in whatever case.
func oneOf(list []string, text string) bool {
	for _, word := range list {
		if len(word) == len(text) && matchEnd(text, word, false) == 0 {
			return true
		}
	}
	return false
}
