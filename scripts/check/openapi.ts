import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocument } from './openapi-document.js'

// Lints the OpenAPI document with the recommended rules of Redocly. A warning fails it as well.

/** Redocly prints what it finds. */
function redocly(text: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  try {
    const file = join(folder, 'openapi.json')
    writeFileSync(file, text)
    const args = [
      'tools/node_modules/@redocly/cli/bin/cli.js',
      'lint',
      file,
      '--extends=recommended',
      '--max-problems=200',
      '--format=stylish',
    ]
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    const passed = status === 0 && !/warning|error/i.test(stdout)
    if (!passed) process.stdout.write(`${stdout}${stderr}`)
    return passed
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const text = await openApiDocument()
process.exit(redocly(text) ? 0 : 1)
