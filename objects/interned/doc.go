// Package interned keeps equal parts of Kubernetes objects once.
package interned
