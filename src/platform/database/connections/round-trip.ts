import pg from 'pg'

/** A statement as pg takes it. Prepared if it has a name. */
export interface Command {
  readonly name?: string | undefined
  readonly text: string
  readonly values?: readonly unknown[]
}

/** What this file uses of pg's connection. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  /** The texts of what is prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>
  sync(): void
}

/** What it uses of pg's query: it writes the messages of one statement, and reads what the server answers. */
interface Part {
  readonly name?: string
  readonly text: string
  readonly _result: unknown
  callback: (error: unknown, result?: pg.QueryResult) => void
  prepare(wire: Wire): void
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
  handleEmptyQuery(wire: Wire): void
  handleCopyInResponse(wire: Wire): void
  handleReadyForQuery(wire: Wire): void
}

/**
 * Several statements that are sent together. One Sync follows them all: when one fails, PostgreSQL skips those behind it. pg takes it for
 * one query, whose result is that of the last statement.
 */
export class RoundTrip {
  /** All statements, in order. */
  readonly commands: readonly Command[]
  /** False: it was refused, and PostgreSQL has none of it. */
  isSent = false
  readonly #parts: readonly Part[]
  #running = 0
  #failure: unknown
  /** pg sets it. */
  callback: Part['callback'] | undefined

  /** `prepared`: false where the session may be another one the next time. */
  constructor(commands: readonly Command[], prepared: boolean) {
    this.commands = commands
    this.#parts = commands.map(({ name, ...command }) => {
      const config = prepared ? { name, ...command } : command
      return new pg.Query(config as pg.QueryConfig) as unknown as Part
    })
    for (const part of this.#parts)
      part.callback = (error) => {
        this.#failure ??= error
      }
  }

  get #part(): Part {
    return (this.#parts[this.#running] ?? this.#parts.at(-1)) as Part
  }

  /** Of the statement that runs: pg notes it as prepared. */
  get name(): string | undefined {
    return this.#part.name
  }

  get text(): string {
    return this.#part.text
  }

  /** pg gives it the parsers of the connection. */
  get _result(): unknown {
    return this.#parts.at(-1)?._result
  }

  /** An error: nothing was sent. */
  submit(wire: Wire): Error | null {
    const texts = new Map<string, string>()
    for (const { name, text } of this.#parts) {
      if (name === undefined) continue
      if ((wire.parsedStatements[name] ?? texts.get(name) ?? text) !== text)
        return new Error(`Two statements have the name ${name}`)
      texts.set(name, text)
    }
    this.isSent = true
    // What this round trip itself prepares is noted apart: statements that are skipped are not prepared.
    const batched: Wire = Object.create(wire, {
      sync: { value: () => undefined },
      // pg would close a statement whose values it cannot write, and take it for prepared.
      close: { value: () => undefined },
      submittedNamedStatements: { value: {} },
    })
    wire.stream.cork()
    try {
      for (const part of this.#parts) {
        part.prepare(batched)
        if (this.#failure !== undefined) break
      }
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }

  handleRowDescription(message: unknown): void {
    this.#part.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#part.handleDataRow(message)
  }

  handleCommandComplete(message: unknown, wire: Wire): void {
    this.#part.handleCommandComplete(message, wire)
    this.#running += 1
  }

  handleEmptyQuery(wire: Wire): void {
    this.#part.handleEmptyQuery(wire)
    this.#running += 1
  }

  handleCopyInResponse(wire: Wire): void {
    this.#part.handleCopyInResponse(wire)
  }

  handleError(error: unknown): void {
    // The error belongs to the last statement, so the message names the one that failed.
    const { name, text } = this.commands[this.#running] ?? {}
    if (error instanceof Error && this.isSent && this.#running < this.#parts.length - 1)
      error.message = `${name ?? text} - ${error.message}`
    this.callback?.(error)
  }

  handleReadyForQuery(wire: Wire): void {
    const last = this.#parts.at(-1) as Part
    if (this.#failure !== undefined) {
      this.callback?.(this.#failure)
      return
    }
    last.callback = (error, result) => this.callback?.(error, result)
    last.handleReadyForQuery(wire)
  }
}

/** What is sent with the next statement of a connection: the BEGIN of its transaction, and what `hold` was given. */
const held = new WeakMap<object, Command[]>()

/** Has a statement sent with the next one of the connection. */
export function hold(connection: object, command: Command): void {
  held.set(connection, [...(held.get(connection) ?? []), command])
}

/** What was held, which is sent or dropped by the caller. */
export function takeHeld(connection: object): readonly Command[] {
  const commands = held.get(connection) ?? []
  held.delete(connection)
  return commands
}
