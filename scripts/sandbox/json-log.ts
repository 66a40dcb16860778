import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
} from 'node:fs'
import { dirname } from 'node:path'

const chunkBytes = 1 << 20
const newline = 10

/**
 * A stand-in's memory on disk: one JSON line per entry, appended. It survives the death of the process;
 * `synced`: every entry is on the disk before `write` returns, so a power cut as well.
 */
export class JsonLog<Entry> {
  readonly #path: string
  readonly #file: number
  readonly #synced: boolean

  constructor(path: string, { synced = false } = {}) {
    mkdirSync(dirname(path), { recursive: true })
    this.#path = path
    this.#file = openSync(path, 'a')
    this.#synced = synced
  }

  /** Every stored entry, oldest first; a last line that a kill has torn is cut off. Read them before writing. */
  *entries(): Generator<Entry, undefined> {
    const file = openSync(this.#path, 'r')
    const chunk = Buffer.alloc(chunkBytes)
    let rest: Buffer = Buffer.alloc(0)
    let whole = 0
    try {
      // In chunks, as a log may outgrow the longest string.
      for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
        const text = Buffer.concat([rest, chunk.subarray(0, read)])
        const end = text.lastIndexOf(newline) + 1
        for (const line of text.toString('utf8', 0, end).split('\n')) if (line) yield JSON.parse(line)
        rest = text.subarray(end)
        whole += end
      }
    } finally {
      closeSync(file)
    }
    ftruncateSync(this.#file, whole)
  }

  write(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`)
    if (this.#synced) fdatasyncSync(this.#file)
  }

  /** Forgets every entry. */
  clear(): void {
    ftruncateSync(this.#file)
    if (this.#synced) fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}
