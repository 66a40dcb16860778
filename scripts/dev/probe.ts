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
export function referralAccount(sandboxUrl: string): Promise<string> {
  return readText(`${sandboxUrl}/dev/aggregator`, 'referralAccount')
}

/** The genesis hash of the chain that a node serves. */
export function genesisHash(rpcUrl: string): Promise<string> {
  return readText(rpcUrl, 'result', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
  })
}

/** A text in the JSON object that a URL answers. */
async function readText(url: string, name: string, request: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(requestMs) })
  const text = ((await response.json()) as Record<string, unknown>)[name]
  if (typeof text !== 'string') throw new Error(`${url} did not return ${name}`)
  return text
}
