import { words } from '../i18n/overlay.js'
import { testChannel } from '../lib/browser.js'
import type { Tip } from './queue.js'

const everyMs = 10_000

/** A sample tip has no id, so it does not move the cursor. */
export function sampleTip(): Tip {
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

/** Adds a sample when the dashboard in the same browser sends a test alert. */
export function onTestAlert(wallet: string, add: (tip: Tip) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(testChannel(wallet))
  channel.addEventListener('message', () => add(sampleTip()))
  signal.addEventListener('abort', () => channel.close())
}

export function sampleEveryTenSeconds(add: (tip: Tip) => void, signal: AbortSignal): void {
  add(sampleTip())
  const timer = setInterval(() => add(sampleTip()), everyMs)
  signal.addEventListener('abort', () => clearInterval(timer))
}
