// Posts each confirmed tip to a Discord channel. After a stop it goes on where it was.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createBackendClient } from 'tipping-client'

const { API_KEY, DISCORD_WEBHOOK_URL } = process.env
const { TIPPING_URL = 'http://localhost:3000', CURSOR_FILE = 'cursor.txt' } = process.env
const client = createBackendClient({ baseUrl: TIPPING_URL, apiKey: API_KEY })
const mostPauseSeconds = 60

/** What a supporter writes is text: it has no links, no formatting, and mentions nobody. */
const plain = (text) => text.replace(/[\\*_~`|<>()[\]#:@-]/g, '\\$&')

function textOf({ sender, amount, tokenSymbol, message }) {
  const what = tokenSymbol === 'FIAT' ? `${amount} USD in naira` : `${amount} ${plain(tokenSymbol)}`
  return `**${plain(sender)}** tipped ${what}${message === null ? '' : `: ${plain(message)}`}`
}

/** Tries until Discord has it. Throws when Discord refuses it for good. */
async function post(content) {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, mostPauseSeconds)) {
    const answer = await fetch(DISCORD_WEBHOOK_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content, allowed_mentions: { parse: [] } }),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => undefined)
    if (answer?.ok) return
    if (answer !== undefined && answer.status !== 429 && answer.status < 500)
      throw new Error(`Discord answered ${answer.status}`)
    await pause(1000 * (Number(answer?.headers.get('retry-after')) || seconds))
  }
}

async function readCursor() {
  return Number(await readFile(CURSOR_FILE, 'utf8').catch(() => '0'))
}

/** A file that is replaced is never half written. */
async function storeCursor(sequence) {
  await writeFile(`${CURSOR_FILE}.new`, String(sequence))
  await rename(`${CURSOR_FILE}.new`, CURSOR_FILE)
}

console.log('waiting for tips')
for await (const event of client.events({ after: await readCursor(), types: ['tip.confirmed'] })) {
  await post(textOf(event.data))
  await storeCursor(event.sequence)
}
