import fs from 'node:fs'
import path from 'node:path'

/** The vocabularies of all kinds, as the operators' generators write them. */
export default {
  watch: ['../../reference/*-conditions.json'],
  load(files) {
    return files.sort().flatMap((file) => {
      const page = path.basename(file, '.json')
      return JSON.parse(fs.readFileSync(file, 'utf8')).map((entry) => ({ ...entry, page }))
    })
  },
}
