import { createHmac } from 'node:crypto'
import type { Agent } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Defer } from '../../kit/closing.js'
import type { Draw } from '../../kit/draw.js'
import type { Stage } from '../world/stage.js'
import { send } from './requests.js'

const dripMs = 1000

/** With a right signature it is answered 200, else 401; above 256 KB 400. */
export async function sendWebhook(
  { url, sandbox }: Stage,
  draw: Draw,
  agent: Agent,
): Promise<string | undefined> {
  const reference = draw.oneOf([
    'fiatpay_0',
    'FIATPAY-2A352A57',
    '',
    null,
    {},
    'a\u0000b',
    '\ud800',
    'x'.repeat(5000),
    "'--",
    -1,
  ])
  const event = draw.oneOf([
    'charge.success',
    'transfer.success',
    'transfer.reversed',
    'refund.processed',
    'charge.dispute.create',
    '',
    null,
  ])
  const data = draw.oneOf([
    { reference, amount: 1e15, status: 'success', id: 2 ** 53 },
    { transaction: { reference } },
    { transaction_reference: reference },
    reference,
    [reference],
    null,
  ])
  const json = JSON.stringify({ event, data })
  const body = Buffer.from(
    draw.oneOf([
      json,
      json,
      json,
      json.slice(0, -3),
      `[${json}]`,
      `\ufeff${json}`,
      '',
      'null',
      '{"data":NaN}',
      '['.repeat(100_000),
      `${json}${' '.repeat(300_000)}`,
      '\u0000',
    ]),
  )
  const key = draw.happens(0.5) ? sandbox.fiatpay.secretKey : 'another key'
  const right = createHmac('sha512', key).update(body).digest('hex')
  const signature = draw.oneOf([right, right, right, right.slice(0, -2), `${right}00`, 'zz', ''])
  const isRight = signature === right && key === sandbox.fiatpay.secretKey
  const headers = {
    'content-type': 'application/json',
    ...(signature !== '' && { 'x-paystack-signature': signature }),
  }
  const { status, text } = await send(url, agent, {
    method: 'POST',
    path: '/webhooks/fiatpay',
    headers,
    body,
  })
  const expected = body.length > 256 * 1024 ? [400, 0] : [isRight ? 200 : 401]
  return expected.includes(status)
    ? undefined
    : `a webhook is answered ${status} ${text.slice(0, 100)}: ${json.slice(0, 200)}`
}

const head = 'HTTP/1.1 200 OK\r\n'
/** How receivers of webhooks answer. */
const manners: Readonly<Record<string, (socket: Socket, url: string) => unknown>> = {
  good: (socket) => socket.end(`${head}Content-Length: 0\r\nConnection: close\r\n\r\n`),
  garbage: (socket) => socket.end(Buffer.alloc(3000, 0xf7)),
  silence: () => undefined,
  reset: (socket) => socket.resetAndDestroy(),
  short: (socket) => socket.end(`${head}Content-Length: 50\r\n\r\nok`),
  long: (socket) => socket.end(`${head}Content-Length: 1\r\n\r\n${'ok'.repeat(5000)}`),
  'two lengths': (socket) => socket.end(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nok`),
  headers: (socket) => socket.end(`${head}${`X: ${'a'.repeat(9000)}\r\n`.repeat(50)}\r\n`),
  loop: (socket, url) =>
    socket.end(`HTTP/1.1 307 Again\r\nLocation: ${url}/loop\r\nContent-Length: 0\r\n\r\n`),
  drip: (socket) => repeat(socket, `${head}Content-Length: 100000\r\n\r\n`, 'a', dripMs),
  endless: (socket) =>
    repeat(socket, `${head}Transfer-Encoding: chunked\r\n\r\n`, `4000\r\n${'a'.repeat(16_384)}\r\n`, 1),
}
export const mannerNames = Object.keys(manners)

function repeat(socket: Socket, first: string, again: string, everyMs: number): void {
  socket.write(first)
  const timer = setInterval(() => socket.writableNeedDrain || socket.write(again), everyMs)
  socket.on('close', () => clearInterval(timer))
}

export interface HostileReceiver {
  readonly url: string
  readonly counts: Map<string, number>
}

/** Answers webhooks in the manner that the path names. */
export async function startHostileReceiver(defer: Defer): Promise<HostileReceiver> {
  const counts = new Map<string, number>()
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    socket.once('data', (bytes: Buffer) => {
      const [, manner = ''] = /^POST \/([\w%]+)/.exec(bytes.toString('latin1')) ?? []
      const name = decodeURIComponent(manner)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      manners[name]?.(socket, url)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  defer(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { url, counts }
}
