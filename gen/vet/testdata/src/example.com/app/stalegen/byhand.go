package stalegen

// Not a generated file, so nobody's business.
//
//resilientgen:fingerprint Stale 0123456789abcdef
