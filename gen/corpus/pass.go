package main

import (
	"fmt"
	"go/types"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/gen"
)

// pass wraps all entries once: as they are, or with everything asked.
type pass struct {
	work   *work
	all    *corpus
	report *report
	asked  bool
}

func (p *pass) number() int {
	if p.asked {
		return 1
	}
	return 0
}

func (p *pass) String() string {
	if p.asked {
		return "with everything asked"
	}
	return "as they are"
}

// run generates, takes back what is refused, and generates again until nothing is; then it compiles.
func (p *pass) run() error {
	entries := slices.DeleteFunc(slices.Clone(p.all.entries), func(e *entry) bool { return e.unwritable != "" || e.refused })
	if p.asked {
		for _, e := range entries {
			p.ask(e)
		}
	}
	for round := 1; ; round++ {
		lines, err := p.work.writeSources(entries, p.asked)
		if err != nil {
			return err
		}
		result, err := p.generate(len(entries))
		if err != nil {
			return err
		}
		p.notes(result.Notes, lines)
		if len(result.Problems) == 0 {
			p.judge(entries, result)
			return p.finish(entries, result)
		}
		if round > 6 {
			return fmt.Errorf("%s: there is no end of refusals: %v", p, result.Problems[0])
		}
		if err := p.refusals(result.Problems, lines); err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e *entry) bool { return e.refused })
	}
}

// notes are to be true as well.
func (p *pass) notes(notes []gen.Problem, lines map[place]*entry) {
	for _, note := range notes {
		if !p.all.facts.noted(lines[place{note.Pos.Filename, note.Pos.Line}], note) {
			p.report.wrong("%s: a note that is not true: %v", p, note)
		}
	}
}

// refusals finds the entry that each problem is about.
func (p *pass) refusals(problems []gen.Problem, lines map[place]*entry) error {
	for _, problem := range problems {
		e := lines[place{problem.Pos.Filename, problem.Pos.Line}]
		if e == nil {
			return fmt.Errorf("%s: a problem that belongs to none of the sources: %v", p, problem)
		}
		p.refusal(e, problem)
	}
	return nil
}

func (p *pass) generate(entries int) (*gen.Result, error) {
	began := time.Now()
	result, err := gen.Run(&gen.Config{Dir: p.work.dir, Patterns: []string{"./..."}})
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s: %d interfaces in one run, %.1fs: %d refusals, %d files\n", p, entries, time.Since(began).Seconds(), len(result.Problems), len(result.Files))
	return result, nil
}

// ask asks everything of an entry that its guarded methods may be asked.
func (p *pass) ask(e *entry) {
	for _, m := range sortedMethods(e) {
		if p.accessor(m) {
			e.asks.accessor = true
			e.asks.idempotent = append(e.asks.idempotent, m.Name())
			continue
		}
		if p.report.kinds[e][m.Name()] == "forwarded" {
			continue
		}
		e.asks.idempotent = append(e.asks.idempotent, m.Name())
		e.asks.timeout = append(e.asks.timeout, m.Name())
	}
}

// accessor reports whether a method's error may stand behind its result.
func (p *pass) accessor(m *types.Func) bool {
	results := m.Signature().Results()
	return results.Len() == 1 && p.all.facts.accessor(results.At(0).Type())
}

func sortedMethods(e *entry) []*types.Func {
	var list []*types.Func
	for _, m := range e.methods {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

var aboutMethod = regexp.MustCompile(`^cannot (?:wrap|guard) W\d+\.(\w+)$`)

// refusal checks a reason, and takes back what it is about.
func (p *pass) refusal(e *entry, problem gen.Problem) {
	class, holds := p.all.facts.reason(e, problem)
	p.report.refused(p, e, problem, class, holds)
	if !p.asked {
		e.refused = true
		return
	}
	match := aboutMethod.FindStringSubmatch(problem.What)
	if match == nil {
		p.report.wrong("%s: %s was accepted as it is, and is refused as a whole: %v", p, e.full(), problem)
		e.refused = true
		return
	}
	without := func(list []string) []string {
		return slices.DeleteFunc(list, func(name string) bool { return name == match[1] })
	}
	switch {
	case strings.Contains(problem.Fix, "//resilient:timeout"):
		e.asks.timeout = without(e.asks.timeout)
	case strings.Contains(problem.Fix, "//resilient:idempotent"):
		e.asks.idempotent = without(e.asks.idempotent)
	default:
		e.asks.idempotent, e.asks.timeout = without(e.asks.idempotent), without(e.asks.timeout)
		e.asks.skip = append(e.asks.skip, match[1])
		e.asks.accessor = slices.ContainsFunc(sortedMethods(e), func(m *types.Func) bool {
			return p.accessor(m) && !slices.Contains(e.asks.skip, m.Name())
		})
	}
}

// judge checks what became of every method.
func (p *pass) judge(entries []*entry, result *gen.Result) {
	byName := map[string]*entry{}
	for _, e := range entries {
		byName[e.name] = e
	}
	if len(result.Services) != len(entries) {
		p.report.wrong("%s: %d wrappers for %d interfaces", p, len(result.Services), len(entries))
	}
	for _, s := range result.Services {
		e := byName[s.Interface]
		if e == nil {
			p.report.wrong("%s: a wrapper of %s, which is none of ours", p, s.Interface)
			continue
		}
		p.methods(e, s.Methods)
		e.wrapped[p.number()] = true
	}
}

// methods checks those of one wrapper: each verdict, and that there is one on every method.
func (p *pass) methods(e *entry, verdicts []gen.Method) {
	kinds, count := map[string]string{}, p.report.methods[p.number()]
	for _, m := range verdicts {
		kinds[m.Name] = m.Kind
		method := e.methods[m.Name]
		if method == nil {
			p.report.wrong("%s: %s has no method %s", p, e.full(), m.Name)
			continue
		}
		if why := p.all.facts.method(e, method, m, p.asked); why != "" {
			p.report.wrong("%s: %s.%s is %s (%s), but %s", p, e.full(), m.Name, m.Kind, m.Why, why)
		}
		count[m.Kind]++
		if m.Idempotent {
			count["idempotent"]++
		}
	}
	for name := range e.methods {
		if kinds[name] == "" {
			p.report.wrong("%s: the wrapper of %s lacks %s", p, e.full(), name)
		}
	}
	p.report.kinds[e] = kinds
}

// finish writes the wrappers, generates once more, which must change nothing, and compiles and vets everything.
func (p *pass) finish(entries []*entry, result *gen.Result) error {
	for i := range result.Files {
		if err := result.Files[i].Write(); err != nil {
			return err
		}
	}
	again, err := p.generate(len(entries))
	if err != nil {
		return err
	}
	for i := range again.Files {
		if again.Files[i].Changed() {
			p.report.wrong("%s: generating twice changes %s", p, again.Files[i].Path)
		}
	}
	began := time.Now()
	for _, args := range [][]string{{"build", "-gcflags=-e", "./..."}, {"vet", "./..."}} {
		c := exec.Command("go", args...)
		c.Dir = p.work.dir
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		p.report.wrong("%s: go %s: %v", p, args[0], err)
		p.blame(string(out))
	}
	fmt.Printf("%s: compiled and vetted in %.1fs\n", p, time.Since(began).Seconds())
	return nil
}

// blame reports each message; the outputs are kept apart by their names.
func (p *pass) blame(output string) {
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			p.report.wrong("%s: %s", p, strings.TrimPrefix(line, p.work.dir+string(filepath.Separator)))
		}
	}
}
