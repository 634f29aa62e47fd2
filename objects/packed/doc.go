// Package packed keeps objects as bytes.
package packed
