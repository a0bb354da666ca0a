// Fails when a link inside the built site leads to a page or to a heading that is not there.
// VitePress itself only looks at pages.
import fs from 'node:fs'
import path from 'node:path'

const [site, base = '/'] = process.argv.slice(2)

const pages = new Map()
for (const entry of fs.readdirSync(site, { recursive: true })) {
  const file = path.join(site, entry)
  if (fs.statSync(file).isFile()) pages.set(`/${entry}`, entry.endsWith('.html') ? fs.readFileSync(file, 'utf8') : '')
}

const attributes = (html, name) => [...html.matchAll(new RegExp(`\\s${name}="([^"]+)"`, 'g'))].map((match) => match[1])
const ids = new Map([...pages].map(([page, html]) => [page, new Set(attributes(html, 'id'))]))

function problemOf(page, href) {
  if (/^[a-z]+:/.test(href)) return ''
  const { pathname, hash } = new URL(href, `https://site${page}`)
  const local = pathname.startsWith(base) ? `/${pathname.slice(base.length)}` : pathname
  const target = [local, `${local}.html`, `${local.replace(/\/?$/, '/')}index.html`].find((name) => pages.has(name))
  if (!target) return `there is no page ${local}`
  const anchor = decodeURIComponent(hash.slice(1))
  return anchor && target.endsWith('.html') && !ids.get(target).has(anchor) ? `${target} has no heading #${anchor}` : ''
}

let links = 0
const problems = [...pages].flatMap(([page, html]) => attributes(html, 'href').flatMap((href) => {
  links++
  const problem = problemOf(page, href.replaceAll('&amp;', '&'))
  return problem ? [`${page}: the link ${href} is dead: ${problem}`] : []
}))

if (links === 0) problems.push(`${site} has no links: is it the built site?`)
for (const problem of new Set(problems)) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log(`${pages.size} files with ${links} links, none of them dead`)
