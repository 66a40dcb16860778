import { TippingError } from '../../../sdk/client/errors.js'

/**
 * Passkeys by the browser's own API. The service sends and takes the JSON forms of Web Authentication; browsers of before 2025
 * convert neither, so it is done here.
 */

export function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && navigator.credentials !== undefined
}

type PasskeyFault = 'passkey_refused' | 'passkey_known' | 'passkey_unsupported'

/** Asks the browser to make a passkey. Throws TippingError with a code of the dashboard's own. */
export async function makePasskey(
  options: PublicKeyCredentialCreationOptionsJSON,
): Promise<RegistrationResponseJSON> {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials ?? []).map(named),
  } as unknown as PublicKeyCredentialCreationOptions
  const made = await ask(() => navigator.credentials.create({ publicKey }))
  const response = made.response as AuthenticatorAttestationResponse
  return {
    ...common(made),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  } as unknown as RegistrationResponseJSON
}

/** Asks the browser for a passkey of this site. Throws TippingError with a code of the dashboard's own. */
export async function askForPasskey(
  options: PublicKeyCredentialRequestOptionsJSON,
): Promise<AuthenticationResponseJSON> {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: (options.allowCredentials ?? []).map(named),
  } as unknown as PublicKeyCredentialRequestOptions
  const given = await ask(() => navigator.credentials.get({ publicKey }))
  const response = given.response as AuthenticatorAssertionResponse
  return {
    ...common(given),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle !== null && { userHandle: toText(response.userHandle) }),
    },
  } as unknown as AuthenticationResponseJSON
}

async function ask(work: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  if (!knowsPasskeys()) throw fault('passkey_unsupported')
  const credential = await work().catch((error: unknown) => {
    throw fault(passkeyFault(error instanceof Error ? error.name : ''))
  })
  if (credential === null) throw fault('passkey_refused')
  return credential as PublicKeyCredential
}

/** The status is one of a refusal: repeating it by itself would ask the person again. */
const fault = (code: PasskeyFault): TippingError => new TippingError(code, code, 400)

/** The fault behind the name of a browser's error. Refused and too late have the same name, on purpose. */
function passkeyFault(name: string): PasskeyFault {
  if (name === 'InvalidStateError') return 'passkey_known'
  return name === 'NotAllowedError' || name === 'AbortError' ? 'passkey_refused' : 'passkey_unsupported'
}

function common(credential: PublicKeyCredential) {
  return {
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    ...(credential.authenticatorAttachment && {
      authenticatorAttachment: credential.authenticatorAttachment,
    }),
  }
}

const named = (one: PublicKeyCredentialDescriptorJSON) => ({ ...one, id: toBytes(one.id) })

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0))
}

function toText(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (one) => String.fromCharCode(one)).join('')
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}
