import { waitUntil } from './wait-until.js'

const requestMs = 2_000

/** Waits until an address answers 200; false after so many milliseconds, or as soon as `hopeful` says no. */
export function respondsAt(url: string, milliseconds: number, hopeful: () => boolean): Promise<boolean> {
  const isOk = (): Promise<boolean> =>
    fetch(url, { signal: AbortSignal.timeout(requestMs) }).then(
      (response) => response.ok,
      () => false,
    )
  return waitUntil(isOk, milliseconds, hopeful)
}

/** The account the stand-ins planted for the platform's share of the swap engines' fees. */
export async function referralAccount(sandboxUrl: string): Promise<string> {
  const response = await fetch(`${sandboxUrl}/dev/aggregator`, { signal: AbortSignal.timeout(requestMs) })
  const { referralAccount } = (await response.json()) as { referralAccount?: string }
  if (typeof referralAccount !== 'string') throw new Error(`${sandboxUrl} does not tell its referral account`)
  return referralAccount
}

/** The hash a chain's nodes pin themselves to, asked of one of them. */
export async function genesisHash(rpcUrl: string): Promise<string> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
    signal: AbortSignal.timeout(requestMs),
  })
  const { result } = (await response.json()) as { result?: string }
  if (typeof result !== 'string') throw new Error(`${rpcUrl} does not tell its genesis hash`)
  return result
}
