import fs from 'node:fs'
import path from 'node:path'

import { docs, repository, root } from '../site/repository.js'

// Where a relative link leads, given the folder in which its text stands.
function targetOf(href, folder) {
  const [file, anchor] = href.split('#')
  const target = path.resolve(folder, decodeURI(file))
  if (!fs.existsSync(target)) throw new Error(`the link ${href} leads nowhere: there is no ${path.relative(root, target)}`)
  return { target, anchor: anchor ? `#${anchor}` : '' }
}

function rewrite(href, folder, page) {
  const { target, anchor } = targetOf(href, folder)
  if (target.endsWith('.md') && target.startsWith(docs + path.sep) && path.basename(target) !== 'README.md') {
    return './' + path.relative(path.dirname(page), target) + anchor
  }
  const kind = fs.statSync(target).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/main/${path.relative(root, target)}${anchor}`
}

/**
 * Has links to files that are no pages lead to the repository, where a reader of the plain
 * Markdown finds them beside the page. A page whose frontmatter names a source shows that
 * file's text, whose links are relative to it.
 */
export function repositoryLinks(md) {
  md.core.ruler.push('repository-links', (state) => {
    const page = path.join(docs, state.env.relativePath ?? '')
    const source = state.env.frontmatter?.source
    const folder = path.dirname(source ? path.resolve(path.dirname(page), source) : page)
    for (const block of state.tokens) {
      for (const token of block.children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        if (!href || /^([a-z]+:|\/|#)/.test(href)) continue
        token.attrSet('href', rewrite(href, folder, page))
      }
    }
  })
}
