import { JsonLog } from '../json-log.js'
import { keyOf } from './records.js'

interface Row {
  readonly id: number
  readonly reference: string
}

/**
 * The provider's records of one kind. Every state of a record is written to the disk before it is answered, so a killed
 * stand-in still knows what it did. Tests compare the service with these records.
 */
export class RecordStore<Record extends Row> {
  readonly #log: JsonLog<Record> | undefined
  readonly #effectKobo: (record: Record) => number
  readonly #records = new Map<number, Record>()
  readonly #byReference = new Map<string, number[]>()
  readonly #references = new Map<string, string>()
  #totalKobo = 0

  /**
   * `path`: the log file. With `undefined` the records are in memory. `effectKobo`: how a record changes the balance. Throws when
   * the file cannot be read.
   */
  constructor(path: string | undefined, ids: Ids, effectKobo: (record: Record) => number = () => 0) {
    this.#effectKobo = effectKobo
    this.#log = path === undefined ? undefined : new JsonLog(path, { synced: true })
    for (const record of this.#log?.entries() ?? []) {
      ids.skip(record.id)
      this.#remember(record)
    }
  }

  /** Stores a new record, or the new state of a record. Returns it. */
  write(record: Record): Record {
    this.#log?.write(record)
    this.#remember(record)
    return record
  }

  all(): Record[] {
    return [...this.#records.values()]
  }

  get(id: number): Record | undefined {
    return this.#records.get(id)
  }

  /** Every record with exactly this reference, oldest first. */
  listByReference(reference: string): Record[] {
    return (this.#byReference.get(reference) ?? []).flatMap((id) => this.#records.get(id) ?? [])
  }

  /** The newest record with the provider's reference or the service's own id. */
  find(id: string): Record | undefined {
    return this.listByReference(this.#references.get(keyOf(id)) ?? '').at(-1)
  }

  get totalKobo(): number {
    return this.#totalKobo
  }

  reset(): void {
    this.#log?.clear()
    this.#totalKobo = 0
    for (const map of [this.#records, this.#byReference, this.#references]) map.clear()
  }

  close(): void {
    this.#log?.close()
  }

  #remember(record: Record): void {
    const { id, reference } = record
    const before = this.#records.get(id)
    this.#totalKobo += this.#effectKobo(record) - (before === undefined ? 0 : this.#effectKobo(before))
    if (!this.#records.has(id)) {
      this.#byReference.set(reference, [...(this.#byReference.get(reference) ?? []), id])
      this.#references.set(keyOf(reference), reference)
    }
    this.#records.set(id, record)
  }
}

/** The provider's numeric ids. No id is given twice, not even after a reset or a restart. */
export class Ids {
  #last = 0

  /** The next id: milliseconds since 1970, or the last id plus one, whichever is larger. */
  next(): number {
    this.#last = Math.max(this.#last + 1, Date.now())
    return this.#last
  }

  /** Marks ids up to this one as taken. */
  skip(id: number): void {
    this.#last = Math.max(this.#last, id)
  }
}
