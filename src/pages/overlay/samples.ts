import { words } from '../i18n/overlay.js'
import { testChannel } from '../lib/test-alert.js'
import type { Tip } from './queue.js'

const everyMs = 10_000

/** What a tip looks like; it has no place in the stream. */
export function sample(): Tip {
  return {
    id: undefined,
    amount: 5,
    tokenSymbol: 'USDC',
    sender: words.sampleSender,
    message: words.sampleMessage,
    timestamp: new Date().toISOString(),
    valueUsd: 5,
  }
}

/** A sample each time the dashboard, open in the same browser, asks for one. */
export function listenForTests(wallet: string, add: (tip: Tip) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(testChannel(wallet))
  channel.addEventListener('message', () => add(sample()))
  signal.addEventListener('abort', () => channel.close())
}

export function sampleEveryTenSeconds(add: (tip: Tip) => void, signal: AbortSignal): void {
  add(sample())
  const timer = setInterval(() => add(sample()), everyMs)
  signal.addEventListener('abort', () => clearInterval(timer))
}
