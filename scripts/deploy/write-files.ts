import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deployFiles } from './deploy-files.js'

// `node dist/scripts/deploy/write-files.js`, in the clone, after a change of the Procfile or the list of secrets.
const files = deployFiles(readFileSync('Procfile', 'utf8'), readFileSync('.env.example', 'utf8'))
for (const [file, text] of Object.entries(files)) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
