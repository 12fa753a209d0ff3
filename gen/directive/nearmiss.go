package directive

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// almost matches what a reader would take for a directive at the beginning of a
// comment. Groups: what is before the tool, the tool, what is round the colon, the
// verb, and the rest.
var almost = regexp.MustCompile(`^(/[/*])([ \t]*[+@]?[ \t]*)([A-Za-z]+)([ \t]*[:=-][ \t]*|[ \t]+)([A-Za-z_-]+)(.*)`)

// nearMiss finds a comment that was meant to be a directive and is none. One
// mistake at a time is believed; prose that begins with the tool's name is prose.
func nearMiss(c *ast.Comment) (Problem, bool) {
	line, _, _ := strings.Cut(c.Text, "\n")
	m := almost.FindStringSubmatch(strings.TrimRight(line, " \t\r"))
	if m == nil {
		return Problem{}, false
	}
	open, lead, tool, colon, word, rest := m[1], m[2], m[3], m[4], m[5], m[6]
	verb := closest(word)
	exact := strings.EqualFold(tool, Tool)
	plain := open == "//" && lead == "" // nothing that prose would have
	switch {
	case verb == "" && (!exact || colon != ":" || !plain):
		return Problem{}, false // of another tool, or prose
	case verb == "": // a capital in the tool, or in a verb that there is not
		p := unknownVerb(c, word)
		return p, tool != Tool || word != strings.ToLower(word)
	case !exact && (colon != ":" || distance(strings.ToLower(tool), Tool) > 2):
		return Problem{}, false
	case colon != ":" && !plain && !onlyArguments(colon, verb, word, rest):
		return Problem{}, false
	}

	var mistakes []string
	if open == "/*" {
		mistakes = append(mistakes, "a directive is a // comment")
		rest = strings.TrimRight(strings.TrimSuffix(rest, "*/"), " \t")
	}
	switch {
	case strings.ContainsAny(lead, "+@"):
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
	if word != string(verb) {
		mistakes = append(mistakes, misspelt("the verb is", word, string(verb)))
	}
	if len(mistakes) == 0 {
		return Problem{}, false // a directive after all
	}
	right := strings.TrimSpace("//" + Tool + ":" + string(verb) + rest)
	return Problem{
		Pos: c.Pos(), End: c.End(),
		What:        fmt.Sprintf("%q is not a directive", strings.TrimSpace(line)),
		Why:         strings.Join(mistakes, ", "),
		Fix:         fmt.Sprintf("did you mean %s?", right),
		Replacement: right,
	}, true
}

func misspelt(what, is, meant string) string {
	if strings.EqualFold(is, meant) {
		return fmt.Sprintf("%s written %s, without capitals", what, meant)
	}
	return fmt.Sprintf("%s %s, not %s", what, meant, is)
}

// onlyArguments tells "// resilient: idempotent", which somebody meant, from
// "// resilient: service names are …", which is prose.
func onlyArguments(colon string, verb Verb, word, rest string) bool {
	words := strings.Fields(rest)
	return strings.Contains(colon, ":") && strings.EqualFold(word, string(verb)) && len(words) <= 1
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
