// Package mcpguard keeps broken tools away from a model, over the Model Context Protocol.
package mcpguard
