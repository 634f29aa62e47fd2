package report

// Strings of a record may come from anywhere: a received run.json, a folder's name, an
// implementation's name. This file makes them harmless in one place, before any layout. It
// replaces every string of the record by reflection, so that no field can be forgotten.
//
// For a terminal and for bench.txt, control characters become visible escapes (clean). In
// Markdown, characters with a meaning there also become entities (forMarkdown), which is
// also safe within this package's own HTML. Code would show an entity literally, so it is
// taken from the cleaned record and fenced (codeSpan, codeBlock).

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible turns control characters into escapes such as \x1b and \u202e: C0 except newline
// and tab, DEL, C1, and invisible characters that change how text is shown, such as bidi
// overrides. Bytes that are not UTF-8 become \xNN. Other text is returned unchanged,
// without an allocation.
func Visible(text string) string { return visible(text, "\n\t") }

// VisibleLine is Visible for text on one line: newlines and tabs become escapes too.
func VisibleLine(text string) string { return visible(text, "") }

func visible(text, kept string) string {
	harmless := func(r rune) bool {
		return r < utf8.RuneSelf && (r >= ' ' && r != 0x7f || strings.ContainsRune(kept, r))
	}
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var out strings.Builder
	for rest := text; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, rest[0])
		case strings.ContainsRune(kept, r) ||
			!unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out.WriteString(rest[:n])
		case r == '\n':
			out.WriteString(`\n`)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			// As in JSON, so that JSON stays the same value.
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	return out.String()
}

// severalLines are the fields whose strings may have several lines; elsewhere a newline
// would let a name pass for a line of the report.
var severalLines = []string{"YAML", "Warnings", "Failures", "Unsupported", "Detail", "Reason"}

// clean returns a copy of a record whose strings have no control characters.
func clean[T any](record *T) *T {
	return mapped(record, func(field, text string) string {
		if slices.Contains(severalLines, field) {
			return Visible(text)
		}
		return VisibleLine(text)
	})
}

// forMarkdown returns a copy of a record whose strings have no markup of Markdown or HTML.
func forMarkdown[T any](record *T) *T {
	return mapped(clean(record), func(_, text string) string {
		return escape(strings.Join(strings.Fields(text), " "))
	})
}

// entities replaces the characters that Markdown, HTML or GitHub (mentions, issues,
// formulas) would interpret. They are entities instead of backslash escapes, so that %q and
// the tables' own escapes leave them intact.
var entities = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, "&#92;", "`", "&#96;", "*", "&#42;", "[", "&#91;",
	"]", "&#93;", "|", "&#124;",
	"~", "&#126;", "#", "&#35;", "@", "&#64;", "$", "&#36;", "://", "&#58;//",
)

var (
	linked     = regexp.MustCompile(`(?i)www\.`)
	underscore = regexp.MustCompile(`(^|[^\pL\pN])_|_($|[^\pL\pN])`) // between letters it is text
)

func escape(text string) string {
	text = entities.Replace(text)
	if strings.ContainsAny(text, "wW") { // most texts have neither, and regexps are slow
		text = linked.ReplaceAllStringFunc(text, func(www string) string { return www[:3] + "&#46;" })
	}
	for strings.Contains(text, "_") && underscore.MatchString(text) { // matches may touch
		text = underscore.ReplaceAllString(text, "$1&#95;$2")
	}
	return text
}

// marker matches the beginning of a line that starts a block: a heading, quote, list, rule,
// fence.
var marker = regexp.MustCompile(`^([-+=:#>]|\d+[.)])`)

// item is escaped text at the beginning of a line.
func item(escaped string) string {
	if m := marker.FindString(escaped); m != "" {
		return fmt.Sprintf("%s&#%d;%s", m[:len(m)-1], m[len(m)-1], escaped[len(m):])
	}
	return escaped
}

var backticks = regexp.MustCompile("`+")

// fence is longer than any run of backticks in the text.
func fence(text string, least int) string {
	for _, run := range backticks.FindAllString(text, -1) {
		least = max(least, len(run)+1)
	}
	return strings.Repeat("`", least)
}

// codeSpan shows clean text on one line as code.
func codeSpan(text string) string {
	f := fence(text, 1)
	if len(f) > 1 {
		text = " " + text + " " // Markdown takes one space off each side
	}
	return f + text + f
}

// codeBlock shows clean text as code of a language; "" is none. indent begins each line.
func codeBlock(indent, language, text string) string {
	f := fence(text, 3)
	body := strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
	return fmt.Sprintf("%s%s%s\n%s%s\n%s%s", indent, f, language, indent, body, indent, f)
}

// mapped is a deep copy of a record with f applied to every string in an exported field,
// and in elements and keys below it. f also gets the name of the field.
func mapped[T any](record *T, f func(field, text string) string) *T {
	out := new(T)
	copyMapped(reflect.ValueOf(out).Elem(), reflect.ValueOf(record).Elem(), "", f)
	return out
}

func copyMapped(to, from reflect.Value, field string, f func(field, text string) string) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(f(field, from.String()))
	case reflect.Struct:
		to.Set(from) // copies the unexported fields, such as the inside of a time
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				copyMapped(to.Field(i), from.Field(i), from.Type().Field(i).Name, f)
			}
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyMapped(to.Elem(), from.Elem(), field, f)
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyMapped(to.Index(i), from.Index(i), field, f)
			}
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for it := from.MapRange(); it.Next(); {
			key, value := reflect.New(from.Type().Key()).Elem(), reflect.New(from.Type().Elem()).Elem()
			copyMapped(key, it.Key(), field, f)
			copyMapped(value, it.Value(), field, f)
			to.SetMapIndex(key, value)
		}
	default:
		to.Set(from)
	}
}
