import { instance } from '@viz-js/viz'
import { parseMermaid } from 'beautiful-mermaid'

const viz = await instance()

const shapes = {
  rounded: { shape: 'box', style: 'rounded,filled' },
  stadium: { shape: 'box', style: 'rounded,filled' },
  diamond: { shape: 'diamond', style: 'filled' },
  hexagon: { shape: 'hexagon', style: 'filled' },
  cylinder: { shape: 'cylinder', style: 'filled' },
}

function nodeOf(node) {
  const attributes = { label: node.label, class: node.shape, ...(shapes[node.shape] ?? { shape: 'box', style: 'filled' }) }
  return { name: node.id, attributes }
}

function edgeOf(edge) {
  const attributes = { style: edge.style === 'dotted' ? 'dashed' : 'solid' }
  if (edge.label) attributes.label = ` ${edge.label} `
  return { tail: edge.source, head: edge.target, attributes }
}

const clusterOf = (group) => ({
  name: `cluster_${group.id}`,
  graphAttributes: { label: group.label },
  nodes: group.nodeIds.map((name) => ({ name })),
  subgraphs: group.children.map(clusterOf),
})

/** The flowchart as Graphviz takes it, which tells edges apart where many meet. */
function graphOf(text) {
  const chart = parseMermaid(text)
  return {
    graphAttributes: { rankdir: chart.direction === 'TD' ? 'TB' : chart.direction, bgcolor: 'none', ranksep: 0.4, nodesep: 0.25, pad: 0.1 },
    nodeAttributes: { fontname: 'Helvetica', fontsize: 11, margin: '0.2,0.08', height: 0.4 },
    edgeAttributes: { fontname: 'Helvetica', fontsize: 10, arrowsize: 0.6 },
    nodes: [...chart.nodes.values()].map(nodeOf),
    edges: chart.edges.map(edgeOf),
    subgraphs: chart.subgraphs.map(clusterOf),
  }
}

function draw(text) {
  const svg = viz.renderString(graphOf(text), { format: 'svg' })
  // Colours and fonts are the style sheet's, and titles would show as tooltips with names of nodes.
  return svg.slice(svg.indexOf('<svg'))
    .replaceAll(/<title>[^]*?<\/title>\n?/g, '')
    .replaceAll(/<!--[^]*?-->\n?/g, '')
    .replaceAll(/ (fill|stroke|font-family)="(?!none|transparent)[^"]*"/g, '')
}

/** Draws the flowcharts in blocks of Mermaid while the site is built. */
export function diagrams(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token.info.trim() !== 'mermaid') return fence(tokens, index, options, env, self)
    return `<figure class="diagram" v-pre>${draw(token.content)}</figure>\n`
  }
}
