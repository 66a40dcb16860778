import { createHmac } from 'node:crypto'
import { deriveKey, openBox, SealBroken, sealBox } from './aead.js'
import { DomainError } from './errors.js'

/**
 * Personal data at rest (docs/decisions/0059), sealed under a key that is made from DATA_KEY for one purpose:
 *
 *     version (1 byte) | box (kernel/aead.ts)
 *
 * The version names the key (docs/decisions/0059).
 */
const firstVersion = 1

/** What keyed hashes are made for. A purpose that is added later has no key in databases that know an older list. */
export const hashPurposes = ['mail-address-hash/1', 'recovery-code/1', 'payee/1', 'holder-name/1'] as const
export type HashPurpose = (typeof hashPurposes)[number]
export type HashKeys = Readonly<Record<HashPurpose, Uint8Array>>

/** The keys that a first DATA_KEY makes hashes with. They stay when DATA_KEY changes: recovery codes cannot be hashed again. */
export function makeHashKeys(dataKey: Uint8Array): HashKeys {
  return Object.fromEntries(
    hashPurposes.map((purpose) => [purpose, deriveKey(dataKey, purpose)] as const),
  ) as unknown as HashKeys
}

/** What a database says about the values of DATA_KEY. */
export interface KnownKeys {
  readonly sealing: number
  readonly byVersion: ReadonlyMap<number, Uint8Array>
  readonly hashKeys: HashKeys
}

/** The values of DATA_KEY, the one that seals first, and their versions. One value alone is the first version until `use`. */
export class DataKeys {
  readonly given: readonly [Buffer, ...Buffer[]]
  #known: KnownKeys | undefined
  readonly #made = new Map<string, Buffer>()

  constructor(given: readonly [Buffer, ...Buffer[]]) {
    this.given = given
    const [first, ...others] = given
    if (others.length === 0)
      this.use({
        sealing: firstVersion,
        byVersion: new Map([[firstVersion, first]]),
        hashKeys: makeHashKeys(first),
      })
  }

  /** Nothing is sealed, opened or hashed until `use`. */
  hold(): void {
    this.#known = undefined
  }

  use(known: KnownKeys): void {
    this.#known = known
    this.#made.clear()
  }

  /** The version of the key that seals. */
  get sealing(): number {
    return this.#all.sealing
  }

  get hashKeys(): HashKeys {
    return this.#all.hashKeys
  }

  /** Throws SealBroken for a version that is not among the values. */
  keyOf(version: number | undefined): Uint8Array {
    const key = version === undefined ? undefined : this.#all.byVersion.get(version)
    if (key === undefined) throw new SealBroken()
    return key
  }

  /** The key for one purpose. Throws as `keyOf`. */
  keyFor(purpose: string, version: number | undefined): Buffer {
    const key = this.keyOf(version)
    const name = `${version} ${purpose}`
    const made = this.#made.get(name) ?? deriveKey(key, purpose)
    this.#made.set(name, made)
    return made
  }

  get #all(): KnownKeys {
    // Not compared with the database yet.
    if (this.#known === undefined) throw new DomainError('service_unavailable')
    return this.#known
  }
}

export interface Sealer {
  /** `context`: where the data stands, such as a row's id. Sealed data that is copied elsewhere does not open. */
  seal(plain: string | Uint8Array, context: string): Buffer
  /** Throws SealBroken for another key, another context, and for altered or cut bytes. */
  open(sealed: Uint8Array, context: string): Buffer
}

/** Purposes are names with a number, such as `mail-address/1`. Two purposes never share one. */
export function createSealer(dataKeys: DataKeys, purpose: string): Sealer {
  const bound = (version: number, context: string): Buffer => Buffer.from(`${purpose}|${version}|${context}`)
  return {
    seal(plain, context) {
      const version = dataKeys.sealing
      const box = sealBox(dataKeys.keyFor(purpose, version), Buffer.from(plain), bound(version, context))
      return Buffer.concat([Buffer.of(version), box])
    },
    open(sealed, context) {
      const [version] = sealed
      return openBox(dataKeys.keyFor(purpose, version), sealed.subarray(1), bound(version ?? 0, context))
    },
  }
}

/** Finds equal data without opening it. Keyed, because all account numbers and many addresses can be guessed. */
export function keyedHash(dataKeys: DataKeys, purpose: HashPurpose, text: string): Buffer {
  return createHmac('sha256', dataKeys.hashKeys[purpose]).update(text).digest()
}
