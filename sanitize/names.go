package sanitize

// The names whose values are secrets, as data: what may be extended without
// touching the scanner. A name is cut into words first — db_password,
// DB-PASSWORD, db.password and dbPassword are two each — and its last word
// decides: what precedes says whose secret it is, what follows makes it
// something else (token_type, password_policy, secret_name).

// kind says what a name promises about its value.
type kind uint8

const (
	plain  kind = iota // nothing
	query              // a secret in the query of a URL, or in a form's body; elsewhere a word like any other
	weak               // a secret where the value looks like one
	plural             // strings are secrets, numbers are counts
	secret             // a secret
	header             // a secret that fills the line
	cookie             // like header, if the line is of pairs
	pairs              // a secret that is a list of pairs itself
)

func (k kind) String() string {
	return [...]string{"plain", "query", "weak", "plural", "secret", "header", "cookie", "pairs"}[k]
}

// nameRule is about names by their last word.
type nameRule struct {
	word   string
	kind   kind
	after  string // one of these words must precede, if there are any
	unless string // none of these may precede
	ends   bool   // also where words run together: mysqlpassword
}

// keyOwners are the words that make a secret of a key. Keys of maps, tables and
// caches are none.
const keyOwners = "access account aes api app application auth cipher clickhouse client consumer crypto data decrypt decryption deploy " +
	"encrypt encryption functions hash hmac host house license master pragma preshared private psk rapidapi recovery root sas secret security server service session shared sign " +
	"signature signing ssh storage subscription symmetric token unseal wallet webhook"

// tokenHeads make a token of a parser, a model or a list of pages.
const tokenHeads = "bos cls continuation continue cancel cancellation eof eos eot first last lex lexer mask max min next num " +
	"page pad paging parser prev previous pagination sep start stop sync tag total unk watermark"

var nameRules = [...]nameRule{
	{word: "password", kind: secret, ends: true},
	{word: "passwords", kind: plural, ends: true},
	{word: "passwd", kind: secret, ends: true},
	{word: "passphrase", kind: secret, ends: true},
	{word: "passcode", kind: secret, ends: true},
	{word: "phrase", kind: secret, after: "pass seed recovery secret"},
	{word: "code", kind: secret, after: "pass recovery backup security"},
	{word: "codes", kind: plural, after: "recovery backup"},
	{word: "seed", kind: secret, after: "otp totp"},
	{word: "salt", kind: secret, after: "password passwd pass hash secret"},
	{word: "digest", kind: secret, after: "password passwd pass"},
	{word: "word", kind: secret, after: "pass"},
	{word: "pass", kind: secret, unless: "by first second single multi render one two per shader band low high all"},
	{word: "dbpass", kind: secret},
	{word: "userpass", kind: secret},
	{word: "adminpass", kind: secret},
	{word: "rootpass", kind: secret},
	{word: "mailpass", kind: secret},
	{word: "smtppass", kind: secret},
	{word: "ftppass", kind: secret},
	{word: "sqlpass", kind: secret},
	{word: "mysqlpass", kind: secret},
	{word: "loginpass", kind: secret},
	{word: "storepass", kind: secret},
	{word: "keypass", kind: secret},
	{word: "requirepass", kind: secret},
	{word: "pwd", kind: secret, ends: true},
	{word: "pswd", kind: secret},
	{word: "psw", kind: secret},
	{word: "pw", kind: secret},
	{word: "dbpw", kind: secret},
	{word: "rootpw", kind: secret},
	{word: "userpw", kind: secret},
	{word: "adminpw", kind: secret},
	{word: "secret", kind: secret, ends: true},
	{word: "secrets", kind: plural},
	{word: "credential", kind: secret, ends: true},
	{word: "credentials", kind: secret, ends: true, unless: "allow"},
	{word: "cred", kind: secret},
	{word: "creds", kind: secret},
	{word: "token", kind: secret, ends: true, unless: tokenHeads},
	{word: "tokens", kind: plural, unless: tokenHeads + " prompt completion input output cached reasoning used special new"},
	{word: "bearer", kind: secret},
	{word: "jwt", kind: secret},
	{word: "otp", kind: secret},
	{word: "totp", kind: secret},
	{word: "csrf", kind: secret},
	{word: "xsrf", kind: secret},
	{word: "sid", kind: secret},
	{word: "psk", kind: secret},
	{word: "pat", kind: weak},
	{word: "cvv", kind: secret},
	{word: "cvc", kind: secret},
	{word: "mnemonic", kind: secret},
	{word: "privkey", kind: secret, ends: true},
	{word: "apikey", kind: secret, ends: true},
	{word: "api", kind: secret, after: "art"}, // Artifactory
	{word: "apikeys", kind: plural, ends: true},
	{word: "accesskey", kind: secret, ends: true},
	{word: "secretkey", kind: secret, ends: true},
	{word: "privatekey", kind: secret, ends: true},
	{word: "encryptionkey", kind: secret, ends: true},
	{word: "signingkey", kind: secret, ends: true},
	{word: "masterkey", kind: secret, ends: true},
	{word: "accountkey", kind: secret, ends: true},
	{word: "authkey", kind: secret, ends: true},
	{word: "appkey", kind: secret},
	{word: "key", kind: secret, after: keyOwners},
	{word: "key", kind: query},
	{word: "keys", kind: plural, after: keyOwners},
	{word: "sessionid", kind: secret, ends: true},
	{word: "sessid", kind: secret, ends: true},
	{word: "id", kind: secret, after: "session sess secret"},
	{word: "secretid", kind: secret},
	{word: "session", kind: weak},
	{word: "string", kind: pairs, after: "connection conn"},
	{word: "string", kind: secret, after: "secret"},
	{word: "binary", kind: secret, after: "secret"},
	{word: "str", kind: pairs, after: "connection conn"},
	{word: "connectionstring", kind: pairs, ends: true},
	{word: "connstr", kind: pairs, ends: true},
	{word: "connstring", kind: pairs, ends: true},
	{word: "auth", kind: weak},
	{word: "signature", kind: weak},
	{word: "sig", kind: weak},
	{word: "hmac", kind: weak},
	{word: "assertion", kind: weak},
	{word: "samlresponse", kind: secret},
	{word: "response", kind: secret, after: "saml"},
	{word: "code", kind: query},
	{word: "verifier", kind: weak, after: "code oauth"},
	{word: "header", kind: secret, after: "auth authorization"},
	{word: "authorization", kind: header},
	{word: "proxyauthorization", kind: header},
	{word: "cookie", kind: cookie},
	{word: "cookies", kind: cookie},
	{word: "setcookie", kind: cookie},

	// The same in other languages, without their accents where people leave them out.
	{word: "passwort", kind: secret, ends: true},
	{word: "kennwort", kind: secret, ends: true},
	{word: "contraseña", kind: secret},
	{word: "contrasena", kind: secret},
	{word: "senha", kind: secret},
	{word: "motdepasse", kind: secret},
	{word: "passe", kind: secret, after: "de"},
	{word: "wachtwoord", kind: secret},
	{word: "hasło", kind: secret},
	{word: "haslo", kind: secret},
	{word: "пароль", kind: secret},
	{word: "Пароль", kind: secret},
	{word: "ПАРОЛЬ", kind: secret},
	{word: "密码", kind: secret},
	{word: "密碼", kind: secret},
	{word: "パスワード", kind: secret},
}

// variants may follow a secret's name, as may digits: password_old, apiKey2,
// SECRET_KEY_BASE.
var variants = [...]string{
	"old", "new", "current", "previous", "confirm", "confirmation", "repeat", "again", "hash", "hashed", "base", "value", "val",
	"plain", "plaintext", "raw", "primary", "secondary", "backup", "prod", "production", "staging", "dev", "test", "enc", "encrypted",
}

// nameWords are the names of a name: {"name": "DB_PASSWORD", "value": …}.
var nameWords = [...]string{"name", "key", "parameterkey"}

// valueWords are the names of what belongs to it.
var valueWords = [...]string{"value", "val", "stringvalue", "content", "parametervalue"}
