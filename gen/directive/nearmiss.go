package directive

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// almost matches what a reader would take for a directive at the beginning of a
// comment. Groups: what is before the tool, the tool, what is round the colon, the
// verb, and the rest.
var almost = regexp.MustCompile(`^(/[/*])(/?[ \t]*(?:[+@!#]|go:)?[ \t]*)(\pL+)([ \t]*(?:::|[:：;=./_-])[ \t]*|[ \t]+)([\pL_-]+)(.*)`)

// nothing matches the tool's name with no verb behind it.
var nothing = regexp.MustCompile(`^//[/+@!#]?` + Tool + `:?$`)

// nearMiss finds a comment that was meant to be a directive and is none. One
// mistake at a time is believed; prose that begins with the tool's name is prose.
//
//revive:disable-next-line:cognitive-complexity one rule a case, which read best in one place
func nearMiss(c *ast.Comment) (Problem, bool) {
	line := oneLine(c.Text)
	if seen := visible(line); seen != line {
		return hidden(c, seen)
	}
	if nothing.MatchString(line) {
		p := unknownVerb(c, "")
		p.Why = "it lacks its verb"
		return p, true
	}
	m := almost.FindStringSubmatch(line)
	if m == nil {
		return Problem{}, false
	}
	open, lead, tool, colon, word, rest := m[1], m[2], m[3], m[4], m[5], m[6]
	verb := closest(word)
	exact := strings.EqualFold(tool, Tool) || strings.EqualFold(tool, Tool+"gen") && word != "fingerprint"
	// What prose would not have: no space, or a mark that other tools' directives have.
	plain := open == "//" && (!strings.ContainsAny(lead, " \t") || strings.ContainsAny(lead, "+@!"))
	switch {
	case verb == "" && (!exact || colon != ":" && colon != "::" || open != "//"):
		return Problem{}, false // of another tool, or prose
	case verb == "": // a capital in the tool, or in a verb that there is not
		short := tool == Tool && len(strings.Fields(rest)) <= 1
		p := unknownVerb(c, word)
		return p, plain && (tool != Tool || word != strings.ToLower(word) || lead != "" || colon != ":") || !plain && short
	case strings.ContainsAny(colon, "./_"):
		if !strings.EqualFold(tool, Tool) || !plain || word != string(verb) || !wellFormed(verb, rest) {
			return Problem{}, false // Go
		}
	case !exact && (colon != ":" || distance(strings.ToLower(tool), Tool) > 2):
		return Problem{}, false
	case colon != ":" && !plain && !onlyArguments(colon, verb, word, rest):
		return Problem{}, false
	}

	mistakes := mistakesIn(open, lead, tool, colon, word, string(verb))
	if open == "/*" {
		rest = strings.TrimRight(strings.TrimSuffix(rest, "*/"), " \t")
	}
	if len(mistakes) == 0 {
		return Problem{}, false // a directive after all
	}
	right := strings.TrimSpace("//" + Tool + ":" + string(verb) + rest)
	return Problem{
		Pos: c.Pos(), End: c.End(),
		What:        fmt.Sprintf("%q is not a directive", line),
		Why:         strings.Join(mistakes, ", "),
		Fix:         fmt.Sprintf("did you mean %s?", right),
		Replacement: right,
	}, true
}

// visible takes out what a reader does not see, and makes spaces of what looks like them.
func visible(line string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsSpace(r) && r > unicode.MaxASCII:
			return ' '
		}
		return r
	}, line))
}

// hidden finds a directive that would be one, or nearly, but for letters that nobody sees.
func hidden(c *ast.Comment, seen string) (Problem, bool) {
	p, near := nearMiss(&ast.Comment{Slash: c.Slash, Text: seen})
	if d, ok := ast.ParseDirective(c.Pos(), seen); ok && d.Tool == Tool {
		p, near = Problem{Fix: "did you mean " + seen + "?", Replacement: seen}, true
	}
	p.Pos, p.End = c.Pos(), c.End()
	p.What = fmt.Sprintf("%+q is not a directive", oneLine(c.Text))
	p.Why = "there are letters in it that cannot be seen, or spaces that are none"
	return p, near
}

func misspelt(what, is, meant string) string {
	if strings.EqualFold(is, meant) {
		return fmt.Sprintf("%s written %s, without capitals", what, meant)
	}
	return fmt.Sprintf("%s %s, not %s", what, meant, is)
}

// oneLine is the first line of a comment. Of a block that has more, it is the one that
// says something, if no other does.
func oneLine(text string) string {
	line, more, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(text, "/*") || more == "" {
		return strings.TrimSpace(line)
	}
	said := ""
	for l := range strings.Lines(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")) {
		switch l = strings.Trim(l, " \t\r\n*"); {
		case l == "":
		case said != "":
			return strings.TrimSpace(line)
		default:
			said = l
		}
	}
	return "/*" + said + "*/"
}

// onlyArguments tells "// resilient: idempotent", which somebody meant, from
// "// resilient: service names are …", which is prose.
func onlyArguments(colon string, verb Verb, word, rest string) bool {
	return strings.Contains(colon, ":") && strings.EqualFold(word, string(verb)) &&
		(len(strings.Fields(rest)) <= 1 || wellFormed(verb, rest))
}

// wellFormed reports whether what follows a verb can be its arguments, and hardly
// anything else: the methods that a list names begin with a capital.
func wellFormed(verb Verb, rest string) bool {
	form, ok := find(verb)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return false
	}
	for _, place := range []Place{OnType, OnMethod, OnEmbed} {
		if form.Places&place == 0 {
			continue
		}
		d, problem := parse(ast.Directive{Tool: Tool, Name: string(verb), Args: strings.TrimSpace(rest)}, form, place)
		if problem == nil && !slices.ContainsFunc(d.Methods, func(name string) bool { return !ast.IsExported(name) }) {
			return true
		}
	}
	return false
}

func unknownVerb(c *ast.Comment, word string) Problem {
	p := Problem{
		Pos: c.Pos(), End: c.End(),
		What: fmt.Sprintf("//%s:%s is not a directive", Tool, word),
		Why:  "there is no such verb",
		Fix:  "the verbs are " + known(),
	}
	if verb := closest(word); verb != "" {
		p.Why = fmt.Sprintf("did you mean %s?", verb)
		_, rest, _ := strings.Cut(c.Text, word)
		p.Replacement = "//" + Tool + ":" + string(verb) + rest
	}
	return p
}

// mistakesIn says what parts a comment from the directive that it was meant to be.
func mistakesIn(open, lead, tool, colon, word, verb string) (mistakes []string) {
	if open == "/*" {
		mistakes = append(mistakes, "a directive is a // comment")
	}
	switch {
	case strings.ContainsAny(lead, "/+@!#") || strings.Contains(lead, "go:"):
		mistakes = append(mistakes, "nothing may stand between // and the tool's name")
	case lead != "":
		mistakes = append(mistakes, "there is a space after //")
	}
	if tool != Tool {
		mistakes = append(mistakes, misspelt("the tool is", tool, Tool))
	}
	if colon != ":" {
		mistakes = append(mistakes, "a single colon, without spaces, parts tool and verb")
	}
	if word != verb {
		mistakes = append(mistakes, misspelt("the verb is", word, verb))
	}
	return mistakes
}
