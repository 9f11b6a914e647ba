package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"sync"
)

// files are what browsers load: our own script and style, htmx and Alpine as their projects publish them, with their licences.
//
//go:embed static
var files embed.FS

// fileVersions are the first bytes of each file's hash: a new release of doze is a new address of what it changed.
var fileVersions = sync.OnceValue(func() map[string]string {
	versions := map[string]string{}
	err := fs.WalkDir(files, "static", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		sum := sha256.Sum256(b)
		versions["/"+path] = hex.EncodeToString(sum[:6])
		return err
	})
	if err != nil {
		panic(err) // they are in the binary
	}
	return versions
})

// asset is the address of a file of static/, for templates.
func asset(name string) string {
	path := "/static/" + name
	return path + "?v=" + fileVersions()[path]
}

// staticFiles serves them; what has its version in its address never changes.
func staticFiles() http.Handler {
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, known := fileVersions()[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		if r.URL.Query().Get("v") == version {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		serve.ServeHTTP(w, r)
	})
}
