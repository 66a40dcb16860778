import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { addressOf, startTcpProxy, through, type Watch } from './tcp-proxy.js'

/**
 * Asked at every step a process takes outside itself, before it reaches the server and again before the server's
 * answer reaches the process. False: it does not pass, and the connection is cut.
 */
export type AtStep = (label: string, phase: 'before' | 'after') => Promise<boolean>

/** The URL of a wire to PostgreSQL on which every statement is a step, labelled by its name or its text. */
export async function watchPostgres(t: ExecutionContext, url: string, atStep: AtStep): Promise<string> {
  return through(await startTcpProxy(t, addressOf(url), () => watchStatements(atStep)), url)
}

/** PostgreSQL's wire (protocol 3): a statement begins with Execute or Query and has ended at ReadyForQuery. */
function watchStatements(atStep: AtStep): Watch {
  const running: string[] = []
  const readFrontend = messageReader(true)
  const readBackend = messageReader(false)
  const statementOf = statementReader()
  return {
    async toServer(bytes) {
      const begun = readFrontend(bytes).flatMap(statementOf)
      running.push(...begun)
      return await all(begun, (label) => atStep(label, 'before'))
    },
    async toClient(bytes) {
      const ends = readBackend(bytes).filter(({ type }) => type === 'Z').length
      return await all(running.splice(0, ends), (label) => atStep(label, 'after'))
    },
  }
}

/** Labels the message that runs a statement: the name it was bound by, or its text. */
function statementReader(): (message: Message) => string[] {
  let bound = ''
  return ({ type, body }) => {
    const texts = body.toString('utf8').split('\0')
    if (type === 'B') bound = texts[1] || 'unnamed'
    if (type === 'Q') return [(texts[0] ?? '').toLowerCase().replace(/;$/, '')]
    return type === 'E' ? [bound] : []
  }
}

async function all(labels: readonly string[], ask: (label: string) => Promise<boolean>): Promise<boolean> {
  for (const label of labels) if (!(await ask(label))) return false
  return true
}

interface Message {
  readonly type: string
  readonly body: Buffer
}

/** Takes whole messages out of a stream of bytes. A client's first message has no type. */
function messageReader(fromClient: boolean): (bytes: Buffer) => Message[] {
  let rest = Buffer.alloc(0)
  let typed = !fromClient
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const messages: Message[] = []
    for (;;) {
      const head = typed ? 1 : 0
      if (rest.length < head + 4) return messages
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return messages
      const type = typed ? String.fromCharCode(rest[0] ?? 0) : ''
      messages.push({ type, body: rest.subarray(head + 4, end) })
      rest = rest.subarray(end)
      typed = true
    }
  }
}

/** The URL of a wire to a JSON-RPC server on which every request is a step, labelled by its method. */
export async function watchRpc(t: ExecutionContext, url: string, atStep: AtStep): Promise<string> {
  const server = createServer((request, response) => {
    void forward(url, request, atStep).then(
      (answer) => {
        if (answer === undefined) request.socket.destroy()
        else response.setHeader('content-type', 'application/json').end(answer)
      },
      () => request.socket.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(async () => {
    const closed = new Promise((done) => server.close(done))
    server.closeAllConnections()
    await closed
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function forward(url: string, request: IncomingMessage, atStep: AtStep): Promise<string | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString('utf8')
  const parsed = [JSON.parse(body)].flat() as { method: string }[]
  const label = parsed[0]?.method ?? 'nothing'
  if (!(await atStep(label, 'before'))) return undefined
  const answer = await fetch(url, { method: 'POST', body, headers: { connection: 'close' } })
  const text = await answer.text()
  return (await atStep(label, 'after')) ? text : undefined
}
