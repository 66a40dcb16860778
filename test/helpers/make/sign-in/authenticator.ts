import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { publicUrl } from '../../servers/world.js'

/** What a creation asks of an authenticator. */
export interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

/** What an assertion asks of an authenticator. */
export interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

/** How an answer differs from that of an honest browser and device. */
interface Differences {
  readonly origin?: string
  readonly rpId?: string
  readonly userVerified?: boolean
  /** Whose key the device says it is. */
  readonly userHandle?: string
}

const flag = { userPresent: 0x01, userVerified: 0x04, attestedData: 0x40 } as const
const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest()
const base64url = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url')

/** A passkey in software: real WebAuthn messages with an ES256 key, as a browser's `toJSON()` writes them. */
export class Authenticator {
  readonly credentialId: Buffer
  /** The signature counter. A copy of the key has one of its own. */
  counter = 0
  #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  #userHandle = ''

  constructor(credentialId: Buffer = randomBytes(16)) {
    this.credentialId = credentialId
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  }

  /** A copy with the same key and counter, as of a thief who read the device. */
  copy(): Authenticator {
    const copy = new Authenticator(this.credentialId)
    copy.counter = this.counter
    copy.#keys = this.#keys
    copy.#userHandle = this.#userHandle
    return copy
  }

  /** The answer to creation options: attestation `none`. */
  create({ challenge, rp, user }: CreationOptions, differences: Differences = {}) {
    this.#userHandle = user.id
    const authData = Buffer.concat([
      this.#authenticatorData(differences.rpId ?? rp.id, flag.attestedData, differences),
      // AAGUID of a device that does not say what it is.
      Buffer.alloc(16),
      uint16(this.credentialId.length),
      this.credentialId,
      this.#coseKey(),
    ])
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(authData)],
    ])
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData('webauthn.create', challenge, differences),
        attestationObject: base64url(attestationObject),
        transports: ['internal'],
      },
    }
  }

  /** The answer to request options. Each one counts up. */
  get({ challenge, rpId }: RequestOptions, differences: Differences = {}) {
    this.counter += 1
    const authData = this.#authenticatorData(differences.rpId ?? rpId, 0, differences)
    const clientDataJSON = clientData('webauthn.get', challenge, differences)
    const userHandle = differences.userHandle ?? this.#userHandle
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    return {
      ...this.#credential(),
      response: {
        clientDataJSON,
        authenticatorData: base64url(authData),
        signature: createSign('sha256').update(signed).sign(this.#keys.privateKey, 'base64url'),
        ...(userHandle !== '' && { userHandle }),
      },
    }
  }

  #credential() {
    const id = base64url(this.credentialId)
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
    }
  }

  /** WebAuthn, 6.1: hash of the site, flags, counter. */
  #authenticatorData(rpId: string, flags: number, { userVerified = true }: Differences): Buffer {
    const verified = userVerified ? flag.userVerified : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([sha256(rpId), Buffer.of(flag.userPresent | verified | flags), counter])
  }

  /** The public key as COSE (RFC 9053): kty EC2, alg ES256, crv P-256, x, y. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    return cborMap([
      [cborInteger(1), cborInteger(2)],
      [cborInteger(3), cborInteger(-7)],
      [cborInteger(-1), cborInteger(1)],
      [cborInteger(-2), cborBytes(Buffer.from(x, 'base64url'))],
      [cborInteger(-3), cborBytes(Buffer.from(y, 'base64url'))],
    ])
  }
}

function clientData(type: string, challenge: string, { origin = publicUrl }: Differences): string {
  return base64url(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

// CBOR (RFC 8949), as far as WebAuthn needs it.

function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value)
  if (value < 0x100) return Buffer.of((major << 5) | 24, value)
  return Buffer.concat([Buffer.of((major << 5) | 25), uint16(value)])
}

const cborInteger = (value: number): Buffer => (value < 0 ? cborHead(1, -1 - value) : cborHead(0, value))
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes])
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, text.length), Buffer.from(text)])
const cborMap = (entries: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
