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
 * An append-only file with one JSON line per entry. Entries survive a crash of the process. With `synced` every entry is on
 * the disk before `write` returns, so entries also survive a power failure.
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

  /** Every stored entry, oldest first. Removes an incomplete last line. Read the entries before the first write. */
  *entries(): Generator<Entry, undefined> {
    const file = openSync(this.#path, 'r')
    const chunk = Buffer.alloc(chunkBytes)
    let rest: Buffer = Buffer.alloc(0)
    let whole = 0
    try {
      // In chunks, because a log can be larger than the longest possible string.
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

  clear(): void {
    ftruncateSync(this.#file)
    if (this.#synced) fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}
