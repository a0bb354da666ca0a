import fs from 'node:fs'
import path from 'node:path'

import { docs } from './repository.js'

// A page is listed in the first section that names it, alone or by a pattern such as
// "reference/steps-*", or else in the first that has its folder with a star. One that none
// names stands under "More", so that no page is out of reach.
const sections = [
  { text: 'Start', pages: ['quick-start', 'start/kind', 'start/helm', 'start/flux', 'operators', 'deploy-infra', 'start/*'] },
  { text: 'Understand', pages: ['concepts', 'conditions', 'control-plane', 'placement', 'barbican', 'glance', 'horizon', 'database', 'behaviours'] },
  {
    text: 'Guides',
    pages: [
      'guides/index', 'guides/gateway-and-tls', 'guides/network-policy', 'guides/policies', 'key-rotation',
      'password-rotation', 'upgrades', 'pausing', 'hibernation', 'guides/brownfield', 'guides/tenants', 'guides/sizes', 'backup-and-restore',
      'guides/air-gapped', 'monitoring', 'dashboards', 'guides/moving', 'guides/directory', 'identity-backends', 'federation', 'secret-aggregate', 'kubectl-forge', 'guides/*',
    ],
  },
  { text: 'Troubleshooting', pages: ['troubleshooting', 'runbooks/index', 'runbooks/*'] },
  {
    text: 'Reference',
    pages: ['reference/index', 'control-plane-options', 'keystone-options', 'keystone-identity-backend-options', 'placement-options', 'barbican-options', 'barbican-secret-store-options', 'glance-options', 'glance-backend-options', 'horizon-options', 'examples', 'reference/*'],
    collapsed: true,
  },
  {
    text: 'How it is built',
    pages: [
      'architecture', 'reference/steps-*', 'performance',
      'decisions/index', 'decisions/*',
    ],
    collapsed: true,
  },
  { text: 'Contribute', pages: ['contributing', 'add-a-service', 'testing', 'local-cluster', 'release'], collapsed: true },
  { text: 'More', pages: ['*'] },
]

// Folders with a dot, or with what npm installs, hold no pages.
function pagesBelow(folder, prefix = '') {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || entry.name === 'README.md') return []
    if (entry.isDirectory()) return pagesBelow(path.join(folder, entry.name), `${prefix}${entry.name}/`)
    return entry.name.endsWith('.md') ? [prefix + entry.name.slice(0, -'.md'.length)] : []
  })
}

function titleOf(page) {
  const file = path.join(docs, `${page}.md`)
  const text = fs.readFileSync(file, 'utf8')
  // A page that only shows another file has that file's title.
  const source = text.match(/^source: (.+)$/m)
  const shown = source ? fs.readFileSync(path.resolve(path.dirname(file), source[1]), 'utf8') : text
  const heading = shown.match(/^# (.+)$/m)
  if (!heading) throw new Error(`docs/${page}.md has no heading of the first level to be listed by`)
  return heading[1].replaceAll('`', '')
}

function matching(pattern, pages) {
  if (!pattern.endsWith('*')) return pages.filter((page) => page === pattern)
  return pages.filter((page) => page.startsWith(pattern.slice(0, -1)))
}

function isFolder(pattern) {
  return pattern === '*' || pattern.endsWith('/*')
}

export function sidebar() {
  let unlisted = pagesBelow(docs).filter((page) => page !== 'index').sort()
  const names = sections.flatMap((section) => section.pages).filter((pattern) => !isFolder(pattern))
  const named = new Set(names.flatMap((pattern) => matching(pattern, unlisted)))
  return sections.map((section) => {
    const pages = section.pages.flatMap((pattern) => {
      const found = matching(pattern, unlisted).filter((page) => !isFolder(pattern) || !named.has(page))
      unlisted = unlisted.filter((page) => !found.includes(page))
      return found
    })
    const items = pages.map((page) => ({ text: titleOf(page), link: `/${page.replace(/(^|\/)index$/, '$1')}` }))
    return { text: section.text, collapsed: section.collapsed, items }
  }).filter((section) => section.items.length > 0)
}
