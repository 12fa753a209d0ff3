package vet

import "golang.org/x/tools/go/analysis"

// Analyzers returns all the analyzers, in the order of their names. They are shared: change none.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		asyncResult,
		capturedWrite,
		emptyDirective,
		idempotentOp,
		lostContext,
		lostFuture,
		ownRetryLoop,
		rawService,
		retriedWrite,
		staleGen,
		streamTimeout,
	}
}
