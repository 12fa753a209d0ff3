package mutation

import (
	"fmt"
	"go/ast"
	"strings"
)

// Choice is the name of the variable that chooses a mutant in a file that holds many.
const Choice = "chosenMutant"

// Combine puts many mutants of a file into one, so that all are compiled at once: each function gets a copy for each of
// its mutants, and goes to the copy whose number is chosen. numbers are those of the mutants that it could take in;
// what is changed outside of functions has to be compiled alone.
func Combine(source []byte, mutants []Mutant) (combined []byte, numbers map[int]bool) {
	numbers = map[int]bool{}
	heads := map[int]*strings.Builder{} // by where a body begins
	var copies strings.Builder
	for n, m := range mutants {
		number := n + 1 // 0 is none
		if m.function == nil {
			continue
		}
		call, ok := m.call(fmt.Sprintf("%s_mutant%d", m.function.Name.Name, number))
		if !ok {
			continue
		}
		numbers[number] = true
		body := m.file.Offset(m.function.Body.Lbrace) + 1
		if heads[body] == nil {
			heads[body] = &strings.Builder{}
		}
		fmt.Fprintf(heads[body], "case %d: %s;", number, call)
		from, to := m.file.Offset(m.function.Pos()), m.file.Offset(m.function.End())
		name := m.file.Offset(m.function.Name.End())
		fmt.Fprintf(&copies, "\n%s_mutant%d%s%s%s\n",
			source[from:name], number, source[name:m.start], m.with, source[m.end:to])
	}
	for at := range source {
		if head := heads[at]; head != nil {
			combined = append(combined, "switch "+Choice+" {"+head.String()+"};"...)
		}
		combined = append(combined, source[at])
	}
	return append(combined, copies.String()...), numbers
}

// call is how a function calls its copy of that name with its own arguments. It reports false where they have no names.
func (m Mutant) call(name string) (string, bool) {
	f := m.function
	if f.Type.TypeParams != nil {
		return "", false
	}
	if f.Recv != nil {
		receiver, ok := names(f.Recv)
		if !ok || len(receiver) != 1 {
			return "", false
		}
		name = receiver[0] + "." + name
	}
	arguments, ok := names(f.Type.Params)
	call := name + "(" + strings.Join(arguments, ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return", ok
	}
	return "return " + call, ok
}

// names are those of parameters, as they are handed on.
func names(list *ast.FieldList) (all []string, ok bool) {
	for _, field := range list.List {
		if len(field.Names) == 0 {
			return nil, false
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				return nil, false
			}
			given := name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				given += "..."
			}
			all = append(all, given)
		}
	}
	return all, true
}
