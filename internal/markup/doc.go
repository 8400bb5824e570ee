// Package markup turns the CommonMark that agents write into the dialects that chat platforms read, in parts that fit.
//
// It is pure: text in, text out. The text is parsed once into styled runs (build.go, inline.go, table.go), the runs are
// cut where a reader would cut them (split.go), and each part is written in its dialect (dialect.go, with a file for each),
// so that every part is valid by itself. The dialects of lines have their runs made ready before (prepare.go). It knows what
// a dialect looks like and how its length counts, and nothing else of a platform: limits are arguments, and sending,
// retrying and falling back to Part.Plain are for others.
package markup
