import { waitUntil } from './wait-until.js'

const requestMs = 2_000

/** Waits until a URL answers 200. False after `milliseconds`, or as soon as `mayStillStart` returns false. */
export function respondsAt(
  url: string,
  milliseconds: number,
  mayStillStart: () => boolean,
): Promise<boolean> {
  const isOk = (): Promise<boolean> =>
    fetch(url, { signal: AbortSignal.timeout(requestMs) }).then(
      (response) => response.ok,
      () => false,
    )
  return waitUntil(isOk, milliseconds, mayStillStart)
}

/** The account that the stand-ins created for our share of the swap engines' fees. */
export async function referralAccount(sandboxUrl: string): Promise<string> {
  const response = await fetch(`${sandboxUrl}/dev/aggregator`, { signal: AbortSignal.timeout(requestMs) })
  const { referralAccount } = (await response.json()) as { referralAccount?: string }
  if (typeof referralAccount !== 'string') throw new Error(`${sandboxUrl} did not return a referral account`)
  return referralAccount
}

/** The genesis hash of the chain that a node serves. */
export async function genesisHash(rpcUrl: string): Promise<string> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
    signal: AbortSignal.timeout(requestMs),
  })
  const { result } = (await response.json()) as { result?: string }
  if (typeof result !== 'string') throw new Error(`${rpcUrl} did not return a genesis hash`)
  return result
}
