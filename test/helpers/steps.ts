import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import { closeServer } from '../../scripts/sandbox/http-server.js'
import { type Watch, wireFor } from './http/wire.js'
import { endReader, statementReader } from './statements.js'

/**
 * Asked at every step a process takes outside itself, before it reaches the server and again before the server's
 * answer reaches the process. False: it does not pass, and the connection is cut.
 */
export type AtStep = (label: string, phase: 'before' | 'after') => Promise<boolean>

/** The URL of a wire to PostgreSQL on which every statement is a step, labelled by its name or its text. */
export async function watchPostgres(t: ExecutionContext, url: string, atStep: AtStep): Promise<string> {
  return (await wireFor(t, url, () => watchStatements(atStep))).url
}

function watchStatements(atStep: AtStep): Watch {
  const running: string[] = []
  const [readStatements, readEnds] = [statementReader(), endReader()]
  return {
    async toServer(bytes) {
      const begun = readStatements(bytes)
      running.push(...begun)
      return await all(begun, (label) => atStep(label, 'before'))
    },
    async toClient(bytes) {
      return await all(running.splice(0, readEnds(bytes)), (label) => atStep(label, 'after'))
    },
  }
}

async function all(labels: readonly string[], ask: (label: string) => Promise<boolean>): Promise<boolean> {
  for (const label of labels) if (!(await ask(label))) return false
  return true
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
  t.teardown(() => closeServer(server))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function forward(url: string, request: IncomingMessage, atStep: AtStep): Promise<string | undefined> {
  const body = await text(request)
  const parsed = [JSON.parse(body)].flat() as { method: string }[]
  const label = parsed[0]?.method ?? 'nothing'
  if (!(await atStep(label, 'before'))) return undefined
  const answer = await fetch(url, { method: 'POST', body, headers: { connection: 'close' } })
  const answered = await answer.text()
  return (await atStep(label, 'after')) ? answered : undefined
}
