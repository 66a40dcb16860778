import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { BenchOptions, Figure, Outcome } from '../outcome.js'
import { type Servers, startServers } from '../servers.js'
import {
  compareRequests,
  countStatements,
  figuresOf,
  footer,
  header,
  linesOf,
  type Round,
  startService,
  type Target,
} from './compare.js'
import { getPath } from './floor.js'

/** A page's document and the files that it names, as a browser without a cache requests them. */
interface Page {
  readonly name: string
  readonly paths: readonly string[]
  readonly bytes: number
}

/** Loads of the checkout and of the dashboard with their files, against the same bytes from memory in bare Koa. */
export async function benchPages({ rounds = 3 }: BenchOptions): Promise<Outcome> {
  const servers = await startServers('.data/bench', countStatements)
  try {
    await servers.sql('create extension pg_stat_statements')
    const service = await startService(servers)
    const documents = {
      checkout: `/embed/${await openSession(servers, service.url)}`,
      dashboard: '/dashboard',
    }
    const stored: Record<string, { type: string; encoding: string | undefined; base64: string }> = {}
    const pages: Page[] = []
    for (const [name, path] of Object.entries(documents)) {
      let bytes = 0
      const load = async (one: string): Promise<string> => {
        const { body, headBytes, type, encoding } = await download(service.url, one)
        stored[one] = { type, encoding, base64: body.toString('base64') }
        bytes += headBytes + body.length
        return body.toString('utf8')
      }
      const html = await load(path)
      const files = [
        ...new Set([...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, one]) => one ?? '')),
      ]
      for (const file of files) await load(file)
      pages.push({ name, paths: [path, ...files], bytes })
    }
    const file = '.data/bench/pages.json'
    writeFileSync(file, JSON.stringify(stored))
    const floor = await servers.serve('static', ['dist/scripts/bench/requests/static-peer.js', file], {})
    const lines: string[] = []
    const figures: Figure[] = []
    const results: Record<
      string,
      { readonly bytes: number; readonly files: number; readonly rounds: Round[] }
    > = {}
    for (const { name, paths, bytes } of pages) {
      const targets = {
        service: targetOf(service.url, service.metricsUrl, paths),
        floor: targetOf(floor, floor, paths),
      }
      const measured = await compareRequests({ unit: name, servers, targets, rounds })
      results[name] = { bytes, files: paths.length, rounds: measured }
      lines.push(...linesOf(name, measured))
      figures.push(...figuresOf(name, measured), { name: `${name}: bytes`, value: bytes, better: 'lower' })
    }
    const sizes = pages.map(
      ({ name, paths, bytes }) => `${name} ${paths.length} files, ${bytes} bytes with heads`,
    )
    const table = [
      header,
      ...lines,
      sizes.join('; '),
      'per s, CPU and statements are of a page with its files; ms are of one file; floor: the same bytes from memory in bare Koa',
      footer(Object.values(results)[0]?.rounds ?? []),
    ].join('\n')
    return { table, results, figures }
  } finally {
    await servers.close()
  }
}

function targetOf(url: string, metricsUrl: string, paths: readonly string[]): Target {
  const requests = paths.map((path) => getPath(url, path))
  let serial = 0
  const next = (): string => {
    serial += 1
    return requests[serial % requests.length] ?? ''
  }
  return { url, metricsUrl, next, requestsEach: paths.length }
}

/** Opens an SDK session by a row, because a creator without a wallet has none. Returns the id of its embed. */
async function openSession(servers: Servers, url: string): Promise<string> {
  const response = await fetch(`${url}/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      email: 'pages@bench.example',
      password: randomBytes(12).toString('hex'),
      name: 'Ada Obi',
    }),
  })
  const { user } = (await response.json()) as { user: { id: string } }
  const embedId = randomBytes(32).toString('base64url')
  await servers.sql(
    `insert into sdk_sessions (token_hash, embed_id, user_id, origin, theme, expires_at)
     values ('\\x${randomBytes(32).toString('hex')}', '${embedId}', '${user.id}', 'https://site.example', 'dark', now() + interval '1 hour')`,
  )
  return embedId
}

async function download(url: string, path: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}${path}`, { headers: { 'accept-encoding': 'br' } }, resolve).on('error', reject)
  })
  const body = await buffer(response)
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
  const headBytes = response.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0)
  return {
    body,
    headBytes,
    type: response.headers['content-type'] ?? 'text/html',
    encoding: response.headers['content-encoding'],
  }
}
