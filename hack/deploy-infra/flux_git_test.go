//go:build integration && flux

package deployinfra

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sources serves what Flux fetches: Git repositories, and a chart repository
// without charts.
type sources struct {
	url, dir string
}

// noCharts is the index of a chart repository.
const noCharts = "apiVersion: v1\nentries: {}\n"

func serveSources(t *testing.T) *sources {
	t.Helper()
	backend := filepath.Join(output(t, "", "git", "--exec-path"), "git-http-backend")
	s := &sources{dir: t.TempDir()}
	mux := http.NewServeMux()
	mux.HandleFunc("/charts/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(noCharts))
	})
	mux.Handle("/", &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + s.dir, "GIT_HTTP_EXPORT_ALL=1"}})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// repository is a work tree whose commits can be fetched.
type repository struct {
	dir, url string
}

// repository creates a repository with copies of folders and files; content maps
// their paths in the repository to their sources.
func (s *sources) repository(t *testing.T, name string, content map[string]string) *repository {
	t.Helper()
	r := &repository{dir: filepath.Join(s.dir, name), url: s.url + "/" + name + "/.git"}
	for to, from := range content {
		to = filepath.Join(r.dir, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		output(t, "", "cp", "--recursive", "--dereference", "--no-preserve=mode", from, to)
	}
	output(t, r.dir, "git", "init", "--quiet", "--initial-branch=main")
	r.commit(t)
	return r
}

// commit commits all changes in the work tree.
func (r *repository) commit(t *testing.T) {
	t.Helper()
	output(t, r.dir, "git", "add", "--all", "--force")
	output(t, r.dir, "git", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=a change")
}

func (r *repository) tag(t *testing.T, name string) {
	t.Helper()
	output(t, r.dir, "git", "tag", name)
}

// replace replaces each of the texts in every file below folder.
func (r *repository) replace(t *testing.T, folder string, texts map[string]string) {
	t.Helper()
	var pairs []string
	for old, changed := range texts {
		pairs = append(pairs, old, changed)
	}
	replacer := strings.NewReplacer(pairs...)
	err := filepath.WalkDir(filepath.Join(r.dir, folder), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(replacer.Replace(string(content))), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// output runs a program in a folder and returns its output.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Stderr = dir, os.Stderr
	// Ignore this machine's Git configuration and any enclosing repository.
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+dir)
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(printed))
}
