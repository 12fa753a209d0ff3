// Package sanitize takes secrets out of text that is about to be logged, shown
// or put into an error.
//
// It knows what secrets look like when programs print them:
//
//	postgres://user:pass@host        ->  postgres://***@host
//	password=hunter2                 ->  password=***
//	DB_PASSWORD: hunter2             ->  DB_PASSWORD: ***
//	Authorization: Bearer abc        ->  Authorization: ***
//	{'api_key': 'abc', "token": 1}   ->  {'api_key': '***', "token": "***"}
//
// and leaves alone what merely speaks of them: "token expired", "password must
// be set", max_tokens=5, token_endpoint=https://idp.example/token. A log that
// hides the error is no use either.
//
// It works on form: by the name in front of a value, whose words decide, by the
// place in a URL, by what tokens and private keys begin with. It knows URLs and
// DSNs, pairs, headers, query strings, JSON, YAML, XML, properties, what Go and
// Python print, SQL and command lines, also inside strings and cut off.
//
// What it cannot know, and leaves:
//   - a secret in running text, "the password is swordfish", and one by position
//     in a list;
//   - a value that only its owner knows for a secret: Options.Values;
//   - a word behind "password: " that reads like an error: Options.Strict;
//   - a long word of letters and digits without a name, which may as well be a
//     commit: Options.Opaque;
//   - the path of a URL: Options.Paths;
//   - a value that begins with "$(", "{{" or "${{", which a shell or a template is to
//     fill in, a parameter in SQL, ? or $1 or :password, and words for what became of a
//     value, token=expired or password = (known after apply);
//   - a word behind a name in the plural, passwords=word, which counts or lists them:
//     a list of strings is taken out;
//   - PWD=value, which shells use for a directory, unless it is part of a DSN;
//   - what is below the name of a secret in JSON, "token":{"value":"word"}, where its
//     own name says nothing, and in YAML a value on the line below its name, or a list
//     of words;
//   - arguments of commands and lines of files that have neither a sign nor an option
//     before them: "AUTH word", "vault login word", "password word" in a .netrc;
//   - tokens that nothing tells from a word, where no name stands before them: those
//     of Databricks (dapi…) and Facebook (EAA…), which Options.Opaque finds, and those of
//     Discord's bots;
//   - what an object holds under the name of a secret, {"passwords": {"bob": "x"}}: its
//     own names decide, and value, as in {"password": {"value": "x"}};
//   - an option of one letter, but for those of the commands in the table of clients;
//   - what is compressed or encoded, but for URLs and pairs in URL escapes, HTML entities
//     and the escapes of JSON.
//
// A value without quotes ends where it must: at a blank; at what reads like the
// next setting (",abc=") or the next field (" ab:"); at "} " and "] " in a printed
// struct or map; at "://" in a URL; at a blank with a bracket in a header. A
// password that has such a thing in it leaves what follows, in less than one of a
// hundred random ones. The credentials of a DSN without a scheme, user:pw@host:1,
// are found up to 256 bytes long, as is a value in an escaped URL up to 512.
//
// Loggers: NewHandler or ReplaceAttr for slog; NewWriter for the others.
//
//	zerolog.New(sanitize.NewWriter(os.Stderr))
//	zapcore.NewCore(encoder, zapcore.AddSync(sanitize.NewWriter(os.Stderr)), level)
//
// All functions are safe for concurrent use and keep no state. They accept any
// bytes; text that was valid UTF-8 stays valid. The work grows linearly with
// the length of the text.
package sanitize

// String returns text with its secrets replaced by "***". Everything else comes
// back byte for byte, line breaks included; text without a secret is returned
// as it is, at no allocation. What was sanitised before does not change again.
func String(text string) string { return standard.clean(text) }

// String is the function String by the rules of the Sanitizer.
func (z *Sanitizer) String(text string) string { return z.by().clean(text) }

// Bytes is String for bytes. What needs no change is returned as it is; else the
// result is new, and the argument is left alone.
func Bytes(text []byte) []byte { return standard.bytes(text) }

// Bytes is the function Bytes by the rules of the Sanitizer.
func (z *Sanitizer) Bytes(text []byte) []byte { return z.by().bytes(text) }

// AppendBytes appends text, sanitised, to a buffer, and returns it as append does.
// Clean text is copied and nothing else. The two must not overlap.
func AppendBytes(to, text []byte) []byte { return append(to, standard.clean(view(text))...) }

// AppendBytes is the function AppendBytes by the rules of the Sanitizer.
func (z *Sanitizer) AppendBytes(to, text []byte) []byte {
	return append(to, z.by().clean(view(text))...)
}

func (r *rules) bytes(text []byte) []byte {
	before := view(text)
	after := r.clean(before)
	if len(after) == len(before) && after == before {
		return text
	}
	return []byte(after)
}

// manyPasses is more than any text has been seen to need. The bound keeps a rule that
// is wrong from going on for ever.
const manyPasses = 100

// clean goes over the text until nothing changes: what was taken out may have hidden
// what the next pass finds. Clean text takes one pass, most others two.
func (r *rules) clean(text string) string {
	if r.known != nil {
		text = r.known.Replace(text)
	}
	if r.opaque {
		text = withoutOpaque(text, r.mask)
	}
	for range manyPasses {
		s := scanner{text: text, rules: r}
		s.run(0, len(text))
		after := s.result()
		if len(after) == len(text) && after == text {
			return text
		}
		text = after
	}
	return text
}
