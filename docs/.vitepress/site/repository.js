import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = 'https://github.com/c5c3/forge'

export const docs = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
export const root = path.dirname(docs)
