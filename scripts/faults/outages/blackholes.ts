import { setTimeout as sleep } from 'node:timers/promises'
import type { Draw } from '../../kit/draw.js'
import { startServers } from '../../kit/servers.js'
import { startTcpProxy } from '../../kit/tcp-proxy.js'
import { mildRefusals } from '../world/client-notes.js'
import type { Disturbance, OpenScenario } from '../world/scenario.js'

/** What the service talks to, and where that is until the stand-ins have started. */
const addresses = {
  chain: 'http://127.0.0.1:9',
  'second chain': 'http://127.0.0.1:9',
  prices: 'http://127.0.0.1:9',
  rates: 'http://127.0.0.1:9',
  fiatpay: 'http://127.0.0.1:9',
  mail: 'smtp://127.0.0.1:9',
}
const silentMs = (draw: Draw): number => 8000 + 12_000 * draw.next()
/** No answer comes later, whoever is silent. */
const longestAnswerMs = 20_000

/** Each provider accepts connections and never answers, one after the other and two at once. What was sent arrives late. */
export const blackholes: OpenScenario = async ({ folder, defer }) => {
  const servers = await startServers(folder, defer)
  const targets = { ...addresses, redis: servers.redisUrl, postgresql: servers.databaseUrl }
  const ways = new Map<string, Awaited<ReturnType<typeof startTcpProxy>>>()
  for (const [name, url] of Object.entries(targets)) {
    const way = await startTcpProxy(url, undefined, true)
    defer(() => way.close())
    ways.set(name, way)
  }
  const urlOf = (name: keyof typeof targets): string => (ways.get(name)?.url ?? '').replace(/\/$/, '')
  const silence = async (names: readonly string[], ms: number): Promise<void> => {
    for (const name of names) ways.get(name)?.hold(true)
    await sleep(ms)
    for (const name of names) ways.get(name)?.hold(false)
  }
  const all = [['chain', 'second chain'], ...Object.keys(targets).slice(2)].map((name) => [name].flat())
  const silent = (name: string, names: (draw: Draw) => readonly string[]): Disturbance => ({
    name: `silent: ${name}`,
    act: (_, draw) => silence(names(draw), silentMs(draw)),
  })
  return {
    databaseUrl: servers.databaseUrl,
    redisUrl: urlOf('redis'),
    stage: {
      serviceDatabaseUrl: urlOf('postgresql'),
      env(sandbox) {
        for (const [name, way] of ways)
          if (name in addresses) way.moveTo(name === 'mail' ? sandbox.mail.url : sandbox.url)
        return {
          RATE_LIMIT_FACTOR: '1000',
          SOLANA_RPC_URLS: `${urlOf('chain')},${urlOf('second chain')}`,
          PRICE_URL: `${urlOf('prices')}/price/v3`,
          RATE_URL: `${urlOf('rates')}/rates/USD`,
          FIATPAY_URL: `${urlOf('fiatpay')}/fiatpay`,
          SMTP_URL: urlOf('mail'),
        }
      },
    },
    disturbances: [
      ...all.map((names) => silent(names[0] ?? '', () => names)),
      silent('the first RPC endpoint', () => ['chain']),
      silent('two at once', (draw) => [...draw.oneOf(all), ...draw.oneOf(all)]),
    ],
    mayAnswer: [...mildRefusals, '503 price_unavailable', '503 rate_unavailable'],
    check: async ({ notes }) => notes.slowerThan(longestAnswerMs),
  }
}
