import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestFn } from 'ava'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { CreatorSettings } from '../../../src/creators/settings.js'
import type { WorkKind } from '../../../src/platform/queue/wake-ups.js'
import { installTestWallet } from '../../browser/test-wallet.js'
import { memo } from '../make/instructions.js'
import { type Embedder, type InitBody, registerEmbedder } from '../make/sdk.js'
import { alterTransaction, createSupporter, type Supporter } from '../make/supporter.js'
import { startWorkerLoops, type WorkerLoops } from '../servers/worker-loops.js'
import { publicUrl, useWorld, type World, type WorldOptions } from '../servers/world.js'
import { until } from '../until.js'
import { type WalletSwitches, walletConfig } from './test-wallet-config.js'

/** As wide as `until`, and for the same reason. */
export const actionTimeoutMs = 60_000
const desktop = { width: 1000, height: 900 }
export const phone = { width: 390, height: 844 }

/** A world with a browser, another site and running workers. */
export interface BrowserWorld {
  readonly world: World
  readonly browser: Browser
  /** Serves a test's documents at an origin that is not the service's. */
  readonly site: Site
}

/** The web server of another site. */
interface Site {
  readonly origin: string
  /** Serves the document at a new path. Returns its URL. */
  serve(document: string | (() => Promise<string>)): string
  readonly server: Server
}

/** A browser on a busy machine; a test that hangs ends. */
const testMs = 180_000

/** Opens a world with a browser for a test file. The verifier, the settlement worker and the named workers run. */
export function useBrowser(
  test: TestFn,
  { workers = [], ...options }: WorldOptions & { readonly workers?: readonly WorkKind[] } = {},
): () => BrowserWorld {
  // A withdrawal's request waits for the worker as in production, if there is one.
  const env = { ...(workers.includes('payouts') && { WITHDRAW_WAIT_MS: '4500' }), ...options.env }
  const world = useWorld(test, { chain: true, fiat: true, ...options, env })
  let opened: BrowserWorld | undefined
  let loops: WorkerLoops | undefined
  test.beforeEach('a test has time', (t) => t.timeout(testMs))
  test.before('a browser starts', async () => {
    await until('the world is open', () => isOpen(world))
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] || '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        // The provider sends payers back to the public URL. This rule leads the browser to the app.
        `--host-resolver-rules=MAP ${new URL(publicUrl).host} ${new URL(world().url).host}`,
        // There, over http, the browser then also has passkeys, whose site is the public URL's host.
        `--unsafely-treat-insecure-origin-as-secure=${publicUrl}`,
      ],
    })
    opened = { world: world(), browser, site: await openSite() }
    loops = startWorkerLoops(world().services, ['verifier', 'settlement', ...workers])
  })
  test.after.always('the browser ends', async () => {
    await loops?.stop()
    await opened?.browser.close()
    const server = opened?.site.server
    server?.closeAllConnections()
    await new Promise((done) => server?.close(done) ?? done(undefined))
  })
  return () => {
    if (opened === undefined) throw new Error('The browser is open inside tests only')
    return opened
  }
}

/** Hooks run concurrently, so the world may still be opening. */
function isOpen(world: () => World): boolean {
  try {
    return world() !== undefined
  } catch {
    return false
  }
}

async function openSite(): Promise<Site> {
  const documents = new Map<string, string | (() => Promise<string>)>()
  const server = createServer((request, response) => {
    const found = documents.get(request.url?.split('?')[0] ?? '') ?? ''
    Promise.resolve(typeof found === 'string' ? found : found()).then(
      (body) => response.setHeader('content-type', 'text/html; charset=utf-8').end(body),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  // A site other than 127.0.0.1, where the service runs.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    server,
    serve(document) {
      const path = `/${documents.size + 1}`
      documents.set(path, document)
      return origin + path
    },
  }
}

/** Creates an SDK session for an origin. `embedUrl` is the checkout's URL. */
export async function createEmbedSession(
  { request, url }: World,
  { id, apiKey }: Embedder,
  originUrl: string,
  theme: 'dark' | 'light' = 'light',
): Promise<InitBody & { readonly embedUrl: string }> {
  const body = { creatorId: id, originUrl, theme }
  const answer = await request<InitBody>('POST', '/sdk/init', { bearer: apiKey, body })
  if (answer.status !== 200) throw new Error(`init: ${answer.status} ${JSON.stringify(answer.body)}`)
  const { pathname, search, hash } = new URL(answer.body.config.embedUrl)
  return { ...answer.body, embedUrl: `${url}${pathname}${search}${hash}` }
}

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  readonly embedder: Embedder
  readonly supporter: Supporter
  readonly embedUrl: string
  readonly sessionToken: string
  /** Errors of any script of the visit. */
  readonly faults: readonly string[]
}

export interface VisitOptions {
  readonly settings?: Partial<CreatorSettings>
  readonly embedder?: Embedder
  /** `none`: the browser has no wallet. */
  readonly wallet?: WalletSwitches | 'none'
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly theme?: 'dark' | 'light'
  readonly tokens?: readonly string[]
  /** Of the browser. */
  readonly timezoneId?: string
  /** A phone: touch, and no pointer. */
  readonly touch?: boolean
}

/** Prepares a supporter with a wallet and a new session of a creator's checkout. The test opens `embedUrl`. */
export async function prepareVisit(
  { world, browser, site }: BrowserWorld,
  {
    settings,
    embedder: given,
    wallet = {},
    viewport = desktop,
    theme = 'light',
    tokens = ['USDC'],
    timezoneId,
    touch = false,
  }: VisitOptions = {},
): Promise<Visit> {
  const embedder = given ?? (await registerEmbedder(world, settings))
  const supporter = createSupporter(world.sandbox, tokens)
  const { embedUrl, sessionToken } = await createEmbedSession(world, embedder, site.origin, theme)
  const context = await browser.newContext({
    viewport,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...(timezoneId !== undefined && { timezoneId }),
    hasTouch: touch,
    isMobile: touch,
  })
  context.setDefaultTimeout(actionTimeoutMs)
  if (wallet !== 'none') {
    await context.exposeFunction('testWalletGuard', (issued: string) => addGuardInstruction(world, issued))
    await context.addInitScript(installTestWallet, walletConfig(supporter, world.sandbox.url, wallet))
  }
  const page = await context.newPage()
  return { context, page, embedder, supporter, embedUrl, sessionToken, faults: collectPageErrors(context) }
}

/** Collects the errors of any script from now on, with violations of content security policies. The list grows. */
export function collectPageErrors(context: BrowserContext): readonly string[] {
  const faults: string[] = []
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML/i.test(message.text())) faults.push(message.text())
  })
  return faults
}

/** Adds an instruction before all others, as wallets with guards do. Takes and returns base64. */
function addGuardInstruction({ sandbox }: World, issued: string): string {
  const transaction = alterTransaction(sandbox.chain, issued, (instructions) => [
    memo('guard'),
    ...instructions,
  ])
  return Buffer.from(transaction.serialize()).toString('base64')
}
