import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import type { TcpProxy, TrafficWatch } from '../../../scripts/kit/tcp-proxy.js'
import { closeServer } from '../../../scripts/sandbox/http-server.js'
import { createEndReader, createStatementReader } from './postgres-protocol.js'
import { tcpProxyFor } from './tcp-proxy.js'

/**
 * Called twice for every step, which is a statement or request of a process: before it reaches the server, and before
 * the answer reaches the process. Returning false cuts the connection there.
 */
export type AtStep = (label: string, phase: 'before' | 'after') => Promise<boolean>

/** Starts a proxy to PostgreSQL on which every statement is a step. The label is its name or its text. */
export function watchPostgresSteps(t: ExecutionContext, url: string, atStep: AtStep): Promise<TcpProxy> {
  return tcpProxyFor(t, url, () => watchStatements(atStep))
}

function watchStatements(atStep: AtStep): TrafficWatch {
  const running: string[][] = []
  const [readStatements, readEnds] = [createStatementReader(), createEndReader()]
  return {
    async toServer(bytes) {
      const begun = readStatements(bytes)
      running.push(...begun)
      return await all(begun.flat(), (label) => atStep(label, 'before'))
    },
    async toClient(bytes) {
      return await all(running.splice(0, readEnds(bytes)).flat(), (label) => atStep(label, 'after'))
    },
  }
}

async function all(
  labels: readonly string[],
  mayPass: (label: string) => Promise<boolean>,
): Promise<boolean> {
  for (const label of labels) if (!(await mayPass(label))) return false
  return true
}

/** Starts a proxy to a JSON-RPC server on which every request is a step. The label is its method. Returns the URL. */
export async function watchRpcSteps(t: ExecutionContext, url: string, atStep: AtStep): Promise<string> {
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
  const answerText = await answer.text()
  return (await atStep(label, 'after')) ? answerText : undefined
}
