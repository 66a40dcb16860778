import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app.js'
import { compose } from '../../src/compose.js'
import type { Pages } from '../../src/http/pages/built-pages.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { serviceSettings } from '../kit/service-settings.js'

// Lints the OpenAPI document with the recommended rules of Redocly. A warning fails it as well.

/** Nothing is asked of these: the document is made from the routes. */
const settings = {
  ...serviceSettings({ databaseUrl: 'postgres://127.0.0.1:9/x', redisUrl: 'redis://127.0.0.1:9' }),
  PUBLIC_URL: 'https://tips.example',
  LOG_LEVEL: 'silent',
}

const noPages: Pages = {
  files: () => ({ script: '', preloads: [], styles: [] }),
  assets: new Map(),
  embedScript: { type: '', identity: Buffer.alloc(0), gzip: undefined, br: undefined },
}

async function document(): Promise<string> {
  const services = compose(loadConfig(settings), 'check')
  const app = createApp(services, noPages)
  const text = JSON.stringify(app.openApi)
  await app.close()
  await services.close()
  return text
}

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

const text = await document()
process.exit(redocly(text) ? 0 : 1)
