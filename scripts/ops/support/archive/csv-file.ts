import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/** A row's values as PostgreSQL writes them; null is not the empty text. */
export type Row = readonly (string | null)[]

/** What a file holds: its rows, and the SHA-256 of the CSV in it. */
export interface Digest {
  readonly rows: number
  readonly sha256: string
}

/** As PostgreSQL's `\copy ... csv header` reads and writes it: a text has quotes, null is nothing. */
const lineOf = (row: Row): string =>
  `${row.map((value) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`)).join(',')}\n`

/** Passes CSV on, and hashes it. */
function hashing() {
  const hash = createHash('sha256')
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return { stream, sha256: () => hash.digest('hex') }
}

/** Counts the rows of these batches, and gives their lines to `take`. */
async function* linesOf(header: Row, batches: AsyncIterable<readonly Row[]>, take: (rows: number) => void) {
  yield lineOf(header)
  for await (const batch of batches) {
    take(batch.length)
    yield batch.map(lineOf).join('')
  }
}

/** Writes a header and rows as compressed CSV to a file that only this user reads. It is on the disk when this returns. */
export async function writeCsv(
  file: string,
  header: Row,
  batches: AsyncIterable<readonly Row[]>,
): Promise<Digest> {
  let rows = 0
  const count = (more: number): void => {
    rows += more
  }
  const { stream, sha256 } = hashing()
  const lines = Readable.from(linesOf(header, batches, count))
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(lines, stream, createGzip(), target)
  return { rows, sha256: sha256() }
}

/** The digest that a file of these rows has. */
export async function digestOf(header: Row, batches: AsyncIterable<readonly Row[]>): Promise<Digest> {
  let rows = 0
  const hash = createHash('sha256')
  for await (const text of linesOf(header, batches, (more) => (rows += more))) hash.update(text)
  return { rows, sha256: hash.digest('hex') }
}

/** Reads a file in batches, which `take` gets, without the header. */
export async function readCsv(file: string, take: (rows: readonly Row[]) => Promise<void>): Promise<Digest> {
  const { stream, sha256 } = hashing()
  let rows = -1
  await pipeline(createReadStream(file), createGunzip(), stream, async (chunks: AsyncIterable<Buffer>) => {
    for await (const batch of parseCsv(chunks)) {
      await take(rows === -1 ? batch.slice(1) : batch)
      rows += batch.length
    }
  })
  return { rows, sha256: sha256() }
}

const cell = /(?:"([^"]*(?:""[^"]*)*)"|)([,\n])/y

/** The rows that end in each chunk. Throws when the last one has no end. */
async function* parseCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    const rows: Row[] = []
    let row: (string | null)[] = []
    let end = 0
    cell.lastIndex = 0
    for (let found = cell.exec(rest); found !== null; found = cell.exec(rest)) {
      row.push(found[1]?.replaceAll('""', '"') ?? null)
      if (found[2] !== '\n') continue
      rows.push(row)
      row = []
      end = cell.lastIndex
    }
    rest = rest.slice(end)
    if (rows.length > 0) yield rows
  }
  if (rest !== '') throw new Error('the last row has no end')
}
