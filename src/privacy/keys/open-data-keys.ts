import type { Knex } from 'knex'
import { deriveKey, SealBroken } from '../../kernel/aead.js'
import {
  createSealer,
  DataKeys,
  type HashKeys,
  hashPurposes,
  makeHashKeys,
} from '../../kernel/personal-data.js'
import { ConfigError } from '../../platform/config/read-settings.js'
import { query, write } from '../../platform/database/database.js'

const fingerprintBytes = 16
const hashKeysPurpose = 'hash-keys/1'
const anotherKey =
  'is not the key that has sealed the personal data in this database (unset, it is made from OTP_PEPPER); set that key again'

interface StoredKey {
  readonly version: number
  readonly fingerprint: Buffer
  readonly hashKeys: Buffer
  readonly retiredAt: Date | null
}

/** Which key it is. Tells nothing about a key of 32 random bytes. */
export function fingerprintOf(key: Uint8Array): Buffer {
  return deriveKey(key, 'data-key-fingerprint/1').subarray(0, fingerprintBytes)
}

export function readDataKeys(db: Knex): Promise<StoredKey[]> {
  return query<StoredKey>(db, {
    name: 'data-keys.read',
    text: 'select version, fingerprint, hash_keys as "hashKeys", retired_at as "retiredAt" from data_keys order by version',
  })
}

/**
 * Throws ConfigError unless DATA_KEY is what has sealed the personal data of this database: another key would seal what nobody can
 * open beside it. Gives the values their versions. A value that is new becomes the next version at its first use. `store`: is that
 * stored; the first of two processes with different new values wins. Returns the newest version that is stored; 0: none is.
 */
export async function openDataKeys(db: Knex, dataKeys: DataKeys, store = true): Promise<number> {
  const rows = await readDataKeys(db)
  const newest = rows.at(-1)?.version ?? 0
  if (rows.length === 0) return useFirst(db, dataKeys, store)
  const found = dataKeys.given.map((key) => ({ key, row: rowOf(rows, key) }))
  const known = found.flatMap(({ key, row }) => (row === undefined ? [] : [{ key, row }]))
  const [any] = known
  if (any === undefined) throw refusal(anotherKey)
  refuseMissing(rows, dataKeys)
  const hashKeys = openHashKeys(any.key, any.row)
  for (const { key, row } of known.slice(1)) openHashKeys(key, row)
  const [{ row: sealing } = { row: undefined }] = found
  if (sealing === undefined)
    throw refusal(
      'has a first value that no process knows yet: set it second for every process before it seals',
    )
  if (sealing.retiredAt !== null)
    throw refusal('has a first value that rotate-data-key took out of use: set the newer key alone')
  const next = newest + 1
  const byVersion = new Map(found.map(({ key, row }) => [row?.version ?? next, key] as const))
  dataKeys.use({ sealing: sealing.version, byVersion, hashKeys })
  const added = found.find(({ row }) => row === undefined)
  if (added === undefined || !store) return newest
  await storeKey(db, next, added.key, hashKeys)
  return openDataKeys(db, dataKeys, false)
}

/** No process has run on this database yet. */
async function useFirst(db: Knex, dataKeys: DataKeys, store: boolean): Promise<number> {
  const [key, ...others] = dataKeys.given
  if (others.length > 0)
    throw refusal(
      'has two values, and this database knows neither: first start every process with the one that has sealed its data alone',
    )
  if (!store) return 0
  await storeKey(db, 1, key, makeHashKeys(key))
  return openDataKeys(db, dataKeys, false)
}

function refuseMissing(rows: readonly StoredKey[], { given }: DataKeys): void {
  const missing = rows.filter(
    ({ retiredAt, fingerprint }) =>
      retiredAt === null && !given.some((key) => fingerprintOf(key).equals(fingerprint)),
  )
  if (missing.length === 0) return
  const versions = missing.map(({ version }) => version).join(' and ')
  throw refusal(
    `lacks the key of version ${versions}, which is in use: set both, the one that seals first, until rotate-data-key says that ` +
      'the older may go',
  )
}

const rowOf = (rows: readonly StoredKey[], key: Buffer): StoredKey | undefined =>
  rows.find(({ fingerprint }) => fingerprintOf(key).equals(fingerprint))

/** One key alone, which needs no list. */
const sealerOf = (key: Buffer) => createSealer(new DataKeys([key]), hashKeysPurpose)

async function storeKey(db: Knex, version: number, key: Buffer, hashKeys: HashKeys): Promise<void> {
  const text = JSON.stringify(
    Object.fromEntries(
      hashPurposes.map((purpose) => [purpose, Buffer.from(hashKeys[purpose]).toString('base64')]),
    ),
  )
  await write(db, {
    name: 'data-keys.store',
    text: 'insert into data_keys (version, fingerprint, hash_keys) values ($1, $2, $3) on conflict do nothing',
    values: [version, fingerprintOf(key), sealerOf(key).seal(text, String(version))],
  })
}

function openHashKeys(key: Buffer, { hashKeys, version }: StoredKey): HashKeys {
  try {
    const stored = JSON.parse(sealerOf(key).open(hashKeys, String(version)).toString()) as Record<
      string,
      string
    >
    return Object.fromEntries(
      hashPurposes.map((purpose) => [purpose, Buffer.from(stored[purpose] ?? '', 'base64')]),
    ) as unknown as HashKeys
  } catch (error) {
    if (error instanceof SealBroken) throw refusal(anotherKey)
    throw error
  }
}

function refusal(message: string): ConfigError {
  return new ConfigError([{ setting: 'DATA_KEY', message }])
}
