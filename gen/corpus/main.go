// Command corpus wraps every exported interface of popular modules and of the standard library, and looks at what
// became of each: an output that compiles, or a refusal whose reason is true. It exits with 1 if there is anything else.
//
// The modules are what go.mod requires, in exact versions; their packages are listed in packages.go, which -update
// writes. Each interface is embedded in one of ours, as a user would wrap it, and the generator runs over all of them
// at once: first as they are, then with everything asked that can be asked (idempotency, timeouts, errors behind
// accessors), until what it refuses is taken back.
//
//	go run . [-update] [-run regexp] [-keep folder] [-v]
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	update := flag.Bool("update", false, "write packages.go")
	keep := flag.String("keep", "", "work in this `folder`, and leave it there")
	only := flag.String("run", "", "wrap only the interfaces of packages whose path this `regexp` finds")
	verbose := flag.Bool("v", false, "print every refusal")
	flag.Parse()
	var err error
	if *update {
		err = writePackages()
	} else {
		err = check(*only, *keep, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// check does it all. The error says that something is not as it should be.
func check(only, keep string, verbose bool) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	work, err := newWork(keep)
	if err != nil {
		return err
	}
	defer work.remove()
	began := time.Now()
	all, err := collect(work, pattern)
	if err != nil {
		return err
	}
	fmt.Printf("%d interfaces of %d packages, loaded in %.1fs\n", len(all.entries), all.packages, time.Since(began).Seconds())
	r := &report{all: all, verbose: verbose, methods: [2]counts{{}, {}}, kinds: map[*entry]map[string]string{}}
	for _, asked := range []bool{false, true} {
		p := &pass{work: work, all: all, report: r, asked: asked}
		if err := p.run(); err != nil {
			return err
		}
	}
	return r.print()
}
