import { defineConfig } from 'vitepress'

import { diagrams } from './markdown/diagrams.js'
import { repositoryLinks } from './markdown/repository-links.js'
import { repository, root } from './site/repository.js'
import { sidebar } from './site/sidebar.js'

export default defineConfig({
  title: 'forge',
  description: 'Operators that run OpenStack control planes on Kubernetes',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  // Working files of the site itself, and the index that only a code browser shows.
  srcExclude: ['README.md', 'node_modules/**'],
  outDir: `${root}/.cache/docs`,
  cacheDir: `${root}/.cache/vitepress`,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.DOCS_BASE ?? '/'}logo.svg` }]],
  // A page that is one wide table has the room of its outline, too.
  transformPageData(page) {
    if (page.relativePath.startsWith('reference/flags-')) Object.assign(page.frontmatter, { aside: false, pageClass: 'wide' })
  },
  markdown: {
    // Braces in the text are those of Kubernetes and of OpenStack policies.
    attrs: { disable: true },
    config(md) {
      md.use(repositoryLinks)
      md.use(diagrams)
    },
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Start', link: '/quick-start', activeMatch: '^/(quick-start|start/)' },
      { text: 'Guides', link: '/guides/', activeMatch: '^/guides/' },
      { text: 'Find a reason', link: '/troubleshooting', activeMatch: '^/(troubleshooting|runbooks/)' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local', options: { detailedView: true } },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
  },
})
