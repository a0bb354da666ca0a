##@ Documentation

DOCS_SITE := $(CACHE)/docs
# The path from which the site is served, such as /forge/ for
# https://example.org/forge/.
DOCS_BASE ?= /

# Any installed Node will do; if there is none, Debian's is installed. "npm ci" is
# no option: it rejects a lock file that lacks the packages for other platforms, and
# not every registry has those.
docs/node_modules/.package-lock.json: docs/package.json docs/package-lock.json
	@command -v node >/dev/null && command -v npm >/dev/null || hack/tools/install-debian-packages.sh docs
	@npm --prefix docs install --no-save --ignore-scripts --silent

.PHONY: docs
docs: docs-build ## Build the documentation site into .cache/docs (DOCS_BASE=/forge/ for a site in a subfolder).

.PHONY: docs-build
docs-build: docs/node_modules/.package-lock.json ## Build the site; fail on dead links and if its search finds nothing.
	@mkdir -p $(CACHE); node --test $(wildcard docs/.vitepress/*/*.test.js) >$(CACHE)/docs-test.log || { cat $(CACHE)/docs-test.log; exit 1; }
	@cd docs && DOCS_BASE='$(DOCS_BASE)' npx --no-install vitepress build
	@node docs/.vitepress/check-links.js $(DOCS_SITE) '$(DOCS_BASE)'

.PHONY: docs-serve
docs-serve: docs/node_modules/.package-lock.json ## Serve the site at http://localhost:5173 and reload changed pages.
	@cd docs && npx --no-install vitepress dev
