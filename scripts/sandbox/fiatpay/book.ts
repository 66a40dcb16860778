import { RequestError } from '../exchange.js'
import { JsonLog } from '../json-log.js'
import type { Ids } from './ids.js'
import { keyOf } from './records.js'

/** Each record costs memory for ever. */
const recordsMax = 500_000

interface Row {
  readonly id: number
  readonly reference: string
}

/**
 * Records of one kind, as the provider keeps them. Every state of a record is a line in the log and on the disk before
 * anybody hears of it, so a killed stand-in knows what it did: the outside truth that tests compare with.
 */
export class Book<Record extends Row> {
  readonly #log: JsonLog<Record> | undefined
  readonly #records = new Map<number, Record>()
  readonly #byReference = new Map<string, number[]>()
  readonly #references = new Map<string, string>()

  /** `path`: the file of the log; undefined keeps the book in memory. Throws when the file cannot be read. */
  constructor(path: string | undefined, ids: Ids) {
    this.#log = path === undefined ? undefined : new JsonLog(path, { synced: true })
    for (const record of this.#log?.entries() ?? []) {
      ids.skip(record.id)
      this.#remember(record)
    }
  }

  /** Keeps a new record, or the new state of an old one. Returns it. */
  write(record: Record): Record {
    if (this.#records.size >= recordsMax && !this.#records.has(record.id))
      throw new RequestError(507, `the stand-in holds ${recordsMax} records: POST /dev/reset`)
    this.#log?.write(record)
    this.#remember(record)
    return record
  }

  /** In the order they were made. */
  all(): Record[] {
    return [...this.#records.values()]
  }

  get(id: number): Record | undefined {
    return this.#records.get(id)
  }

  /** Every record under exactly this reference, oldest first. */
  under(reference: string): Record[] {
    return (this.#byReference.get(reference) ?? []).flatMap((id) => this.#records.get(id) ?? [])
  }

  /** The newest record by the provider's reference or the service's own id. */
  find(id: string): Record | undefined {
    return this.under(this.#references.get(keyOf(id)) ?? '').at(-1)
  }

  /** Forgets everything. */
  reset(): void {
    this.#log?.clear()
    for (const map of [this.#records, this.#byReference, this.#references]) map.clear()
  }

  close(): void {
    this.#log?.close()
  }

  #remember(record: Record): void {
    const { id, reference } = record
    if (!this.#records.has(id)) {
      this.#byReference.set(reference, [...(this.#byReference.get(reference) ?? []), id])
      this.#references.set(keyOf(reference), reference)
    }
    this.#records.set(id, record)
  }
}
