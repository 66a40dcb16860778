import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import WebSocket from 'ws'

const program = process.env['FIREFOX'] || '/usr/bin/firefox-esr'
export const hasFirefox = existsSync(program)

/** A document in Firefox. */
export interface FirefoxPage {
  goto(address: string): Promise<void>
  evaluate<Result>(script: string): Promise<Result>
  /** PNG. */
  screenshot(): Promise<Buffer>
  /** The errors of its scripts so far. The list grows. */
  readonly faults: readonly string[]
}

export interface Firefox {
  newPage(width: number, height: number): Promise<FirefoxPage>
  close(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly type: 'success' | 'error' | 'event'
  readonly result?: unknown
  readonly message?: string
  readonly method?: string
  readonly params?: unknown
}

interface LogEntry {
  readonly type: string
  readonly level: string
  readonly text: string
  readonly source: { readonly context?: string }
}

type Evaluated =
  | { readonly type: 'success'; readonly result: { readonly value?: string } }
  | { readonly type: 'exception'; readonly exceptionDetails: { readonly text: string } }

type Send = <Result>(method: string, params: object) => Promise<Result>

/**
 * Starts a Firefox as people have it and drives it by WebDriver BiDi. Playwright sends its contexts a command that Debian's Firefox does
 * not know (`emulation.setMediaFeaturesOverride`). `profile`: an empty folder.
 */
export async function startFirefox(profile: string): Promise<Firefox> {
  const child = spawn(program, ['--headless', '--remote-debugging-port=0', '--profile', profile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const socket = new WebSocket(`${await addressOf(child)}/session`)
  await once(socket, 'open')
  const listeners: ((entry: LogEntry) => void)[] = []
  const send = sender(socket, (entry) => {
    for (const listen of listeners) listen(entry)
  })
  await send('session.new', { capabilities: {} })
  await send('session.subscribe', { events: ['log.entryAdded'] })
  return {
    async newPage(width, height) {
      const { userContext } = await send<{ userContext: string }>('browser.createUserContext', {})
      const { context } = await send<{ context: string }>('browsingContext.create', {
        type: 'tab',
        userContext,
      })
      await send('browsingContext.setViewport', { context, viewport: { width, height } })
      await send('emulation.setTimezoneOverride', { contexts: [context], timezone: 'Africa/Lagos' })
      const faults: string[] = []
      listeners.push(({ type, level, text, source }) => {
        if (type === 'javascript' && level === 'error' && source.context === context) faults.push(text)
      })
      return { ...pageOf(send, context), faults }
    },
    async close() {
      const ended = once(child, 'exit')
      await send('browser.close', {})
      await ended
      socket.terminate()
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error('Firefox has no output')
  const lines: string[] = []
  for await (const line of createInterface(child.stderr)) {
    const address = /^WebDriver BiDi listening on (ws:.*)$/.exec(line)?.[1]
    if (address !== undefined) {
      child.stderr.resume()
      return address
    }
    lines.push(line)
  }
  throw new Error(`Firefox did not start: ${lines.join('\n')}`)
}

function sender(socket: WebSocket, onEntry: (entry: LogEntry) => void): Send {
  const waiting = new Map<number, (message: Message) => void>()
  socket.on('message', (data: Buffer) => {
    const message: Message = JSON.parse(data.toString())
    if (message.method === 'log.entryAdded') onEntry(message.params as LogEntry)
    else if (message.id !== undefined) waiting.get(message.id)?.(message)
  })
  let last = 0
  return async <Result>(method: string, params: object) => {
    last += 1
    const id = last
    const answered = new Promise<Message>((done) => waiting.set(id, done))
    socket.send(JSON.stringify({ id, method, params }))
    const { type, result, message } = await answered
    if (type === 'error') throw new Error(`${method}: ${message}`)
    return result as Result
  }
}

function pageOf(send: Send, context: string): Omit<FirefoxPage, 'faults'> {
  return {
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async evaluate(script) {
      const answer = await send<Evaluated>('script.evaluate', {
        // As JSON: values are described in a format of their own.
        expression: `Promise.resolve(eval(${JSON.stringify(script)})).then((value) => JSON.stringify(value))`,
        target: { context },
        awaitPromise: true,
      })
      if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text)
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value)
    },
    async screenshot() {
      const { data } = await send<{ data: string }>('browsingContext.captureScreenshot', { context })
      return Buffer.from(data, 'base64')
    },
  }
}
