import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One request and its answer, without headers and without the host, which may hold a key. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** Parsed JSON; undefined without a body. */
  readonly sent: unknown
  readonly status: number
  /** Parsed JSON, or undefined. */
  readonly body: unknown
}

/** The question that a request belongs to. */
interface Question {
  readonly provider: string
  readonly check: string
}

interface Asked extends Question {
  readonly exchanges: Exchange[]
}

const current = new AsyncLocalStorage<Asked>()

/** What was asked and answered since `watchAnswers` began, by question. */
export type Recording = readonly Asked[]
let recorded: Asked[] = []

/** Runs `work` and keeps every answer that a question gets. The clients themselves stay as they are. */
export async function watchAnswers<Result>(work: () => Promise<Result>): Promise<[Result, Recording]> {
  const send = globalThis.fetch
  recorded = []
  globalThis.fetch = async (input, init) => {
    const asked = current.getStore()
    const answer = await send(input, init)
    if (asked !== undefined) asked.exchanges.push(await readExchange(String(input), init, answer.clone()))
    return answer
  }
  try {
    return [await work(), recorded]
  } finally {
    globalThis.fetch = send
  }
}

/** Runs one question. */
export function recordAs<Result>(question: Question, work: () => Promise<Result>): Promise<Result> {
  const asked = { ...question, exchanges: [] }
  recorded.push(asked)
  return current.run(asked, work)
}

/** The newest answer to the question that is being asked. */
export function lastExchange(): Exchange {
  const exchange = current.getStore()?.exchanges.at(-1)
  if (exchange === undefined) throw new Error('nothing was asked yet')
  return exchange
}

async function readExchange(url: string, init: RequestInit | undefined, answer: Response): Promise<Exchange> {
  const { pathname, search } = new URL(url)
  return {
    method: init?.method ?? 'GET',
    path: pathname + search,
    sent: typeof init?.body === 'string' ? parse(init.body) : undefined,
    status: answer.status,
    // The client reports a body that breaks off.
    body: parse(await answer.text().catch(() => '')),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Writes `<folder>/<provider>/<check>.json` for each question. `clean` removes what is secret or personal. */
export function writeRecording(
  folder: string,
  recording: Recording,
  clean: (provider: string, exchange: Exchange) => unknown,
): number {
  const answered = recording.filter(({ exchanges }) => exchanges.length > 0)
  for (const { provider, check, exchanges } of answered) {
    const place = join(folder, fileName(provider))
    mkdirSync(place, { recursive: true })
    const kept = exchanges.map((exchange) => clean(provider, exchange))
    writeFileSync(join(place, `${fileName(check)}.json`), `${JSON.stringify(kept, null, 2)}\n`)
  }
  return answered.length
}

const fileName = (text: string): string => text.replace(/[^\w.-]+/g, '-')
