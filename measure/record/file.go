package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// WriteFile writes a file whole or not at all. The content is on disk before the file gets
// its name, so after a crash of the machine the name has either the former content or the
// new one. A kill may leave the temporary file, in the same folder.
func WriteFile(path string, b []byte) error {
	err := ReplaceFile(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// ReplaceFile is WriteFile for content that is written in pieces. The new file has the
// permissions perm without the bits of the process's umask.
func ReplaceFile(path string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := temporaryFile(path, perm)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync() // or after a crash of the machine the new name could have no content
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// temporaryFile makes a new file beside path. os.CreateTemp does not apply the umask to
// given permissions.
func temporaryFile(path string, perm fs.FileMode) (*os.File, error) {
	prefix := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	for {
		f, err := os.OpenFile(prefix+strconv.FormatUint(rand.Uint64(), 10),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
