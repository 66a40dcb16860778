import { createApp } from '../../src/app.js'
import { compose } from '../../src/compose.js'
import type { Pages } from '../../src/http/pages/built-pages.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { serviceSettings } from '../kit/service-settings.js'

/** Nothing is asked of these: the document is made from the routes, and a test deployment has all of them. */
const settings = {
  MODE: 'test',
  ...serviceSettings({ databaseUrl: 'postgres://127.0.0.1:9/x', redisUrl: 'redis://127.0.0.1:9' }),
  PUBLIC_URL: 'https://tips.example',
  LOG_LEVEL: 'silent',
}

const noPages: Pages = {
  files: () => ({ script: '', preloads: [], styles: [] }),
  assets: new Map(),
  embedScript: { type: '', identity: Buffer.alloc(0), gzip: undefined, br: undefined },
}

/** The service's OpenAPI document as JSON. */
export async function openApiDocument(): Promise<string> {
  const services = compose(loadConfig(settings), 'check')
  const app = createApp(services, noPages)
  const text = JSON.stringify(app.openApi)
  await app.close()
  await services.close()
  return text
}
