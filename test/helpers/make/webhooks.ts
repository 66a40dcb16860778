import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EventType } from '../../../src/events/event.js'
import { recordEvent } from '../../../src/events/record-event.js'
import { createDispatcherBatch } from '../../../src/webhooks/dispatch.js'
import { reachOf } from '../../../src/webhooks/target.js'
import { as } from '../servers/roles.js'
import { runBatch, type World } from '../servers/world.js'
import { until } from '../until.js'

/** A webhook that a receiver got. */
interface ReceivedWebhook {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: {
    readonly id: string
    readonly type: string
    readonly sequence: number
    readonly data: object
  }
  /** In ms of `performance.now()`. */
  readonly at: number
}

/** A server of a creator that receives webhooks. */
export interface WebhookReceiver {
  readonly url: string
  readonly received: ReceivedWebhook[]
  /** Answers what comes. Default: 200. */
  answer: (webhook: ReceivedWebhook, response: ServerResponse) => void
  close(): Promise<void>
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { url: path = '', headers } = request
      const webhook = { path, headers, text, body: JSON.parse(text), at: performance.now() }
      received.push(webhook)
      receiver.answer(webhook, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (_, response) => response.end('ok'),
    close() {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
  return receiver
}

export interface WebhookBody {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly types: readonly string[]
  readonly status: 'active' | 'disabled'
  readonly disabledBy: string | null
  readonly failingSince: string | null
  readonly publicKey: string
  readonly previousSecretUntil: string | null
  readonly lastDelivery: DeliveryBody | null
}

export interface DeliveryBody {
  readonly event: string
  readonly sequence: number
  readonly type: string
  readonly state: string
  readonly attempts: number
  readonly status: number | null
  readonly answer: string | null
  readonly nextAttemptAt: string | null
}

export async function createWebhook(
  { request }: Pick<World, 'request'>,
  session: string,
  body: Readonly<Record<string, unknown>>,
): Promise<{ readonly webhook: WebhookBody; readonly secret: string }> {
  const answer = await request<{ webhook: WebhookBody; secret: string }>('POST', '/creators/webhooks', {
    session,
    body,
  })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Records so many events of a creator in one commit, each with its number in its data. */
export function recordEvents(
  { services }: Pick<World, 'services'>,
  userId: string,
  count: number,
  type: EventType = 'tip.confirmed',
): Promise<void> {
  return services.transact(async (uow) => {
    for (let n = 1; n <= count; n++)
      recordEvent(
        uow,
        type,
        String(n),
        async (_, subjects) =>
          new Map(subjects.map((subject) => [subject, { userId, data: { n: Number(subject) } }])),
      )
  })
}

/** Sends what is due, as the dispatcher's process does, and waits for all of it. */
export async function dispatch({ db, services }: Pick<World, 'db' | 'services'>): Promise<void> {
  const batch = createDispatcherBatch(as('dispatcher', services), reachOf(services.config))
  await runBatch(batch)
  await untilSent(db)
}

/** Waits until no dispatcher of this world has an endpoint. */
export function untilSent(db: World['db']): Promise<void> {
  return until(
    'nothing is being sent',
    async () => (await db('webhook_endpoints').where({ working: true })).length === 0,
  )
}
