import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { domainToUnicode } from 'node:url'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { ActiveFault } from '../active-fault.js'
import { json, localhost, type Route } from '../http-server.js'

/**
 * How the mail server misbehaves. `code`: the SMTP reply of refusals, 4yz or 5yz. Without it no mail is refused.
 * `delayMs`: the delay before the answer. `to`: only for this address. `at`: at the recipient command, or after the content
 * (a mail that is only delayed after its content is accepted). `times`: for how many mails.
 */
export interface MailFault {
  readonly code?: number
  readonly delayMs?: number
  readonly to?: string
  readonly at?: 'recipient' | 'content'
  readonly times?: number
}

export interface ReceivedMail {
  readonly to: string
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** ISO 8601. */
  readonly at: string
  readonly messageId: string
  /** The headers List-Unsubscribe and List-Unsubscribe-Post. Absent: the mail has none. */
  readonly unsubscribe?: readonly string[]
}

const mailsMax = 1000
const mailBytesMax = 1024 * 1024
const closeMs = 100

/** SMTP shows an international domain in its own script, the API as punycode: one spelling for both. */
function sameSpelling(address: string): string {
  const [local, domain] = address.toLowerCase().split(/@(?=[^@]*$)/)
  return `${local}@${domainToUnicode(domain ?? '')}`
}

/** The stand-in for the mail provider. It accepts every mail, delivers none, and shows what it received. */
export class MailServer {
  readonly faults = new ActiveFault<MailFault>()
  #mails: ReceivedMail[] = []
  readonly #server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: mailBytesMax,
    closeTimeout: closeMs,
    onRcptTo: ({ address }, _session, done) =>
      void applyFault(this.#faultOf(address, 'recipient'), 'No such mailbox').then(() => done(), done),
    onData: (stream, session, done) => void this.#take(stream, session).then(() => done(), done),
  })

  /** Port 0: any free port. Rejects with EADDRINUSE when the port is taken. */
  static async listen(port: number): Promise<MailServer> {
    const mail = new MailServer()
    // Ignores clients that disconnect early. A taken port is reported by `once` below.
    mail.#server.on('error', () => undefined)
    mail.#server.listen(port, localhost)
    await once(mail.#server.server, 'listening')
    return mail
  }

  get url(): string {
    const { address, port } = this.#server.server.address() as AddressInfo
    return `smtp://${address}:${port}`
  }

  /** All mails, or those to one address, newest first. */
  received(to?: string): ReceivedMail[] {
    const wanted = to === undefined ? undefined : sameSpelling(to)
    return this.#mails.filter((mail) => wanted === undefined || sameSpelling(mail.to) === wanted).reverse()
  }

  reset(): void {
    this.#mails = []
    this.faults.clear()
  }

  close(): Promise<void> {
    return new Promise((done) => this.#server.close(() => done()))
  }

  readonly list: Route = ({ url }) => json(200, this.received(url.searchParams.get('to') ?? undefined))

  readonly view: Route = ({ url }) => ({
    status: 200,
    type: 'text/html; charset=utf-8',
    body: mailPage(this.received(url.searchParams.get('to') ?? undefined)),
  })

  #faultOf(to: string, at: 'recipient' | 'content'): MailFault | undefined {
    return this.faults.take(
      (fault) => (fault.at ?? 'recipient') === at && (fault.to ?? to).toLowerCase() === to.toLowerCase(),
    )
  }

  async #take(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
    const content = await buffer(stream)
    if (stream.sizeExceeded) throw Object.assign(new Error('Too large'), { responseCode: 552 })
    const { subject = '', text = '', html = '', messageId = '', headers } = await PostalMime.parse(content)
    const unsubscribe = headers.flatMap(({ key, value }) =>
      key.startsWith('list-unsubscribe') ? [value] : [],
    )
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
    for (const { address: to } of envelope.rcptTo) {
      const mail = {
        ...{ to, from, subject, text, html, at: new Date().toISOString(), messageId },
        ...(unsubscribe.length > 0 && { unsubscribe }),
      }
      const fault = this.#faultOf(to, 'content')
      if (fault?.code === undefined) this.#mails = [...this.#mails, mail].slice(-mailsMax)
      // The refusal quotes the mail, as spam filters do.
      await applyFault(fault, `Refused: ${text.replace(/\s+/g, ' ')}`)
    }
  }
}

/** Waits for the fault's delay, then rejects with its SMTP reply and this text. Without a code it resolves. */
async function applyFault(fault: MailFault | undefined, text: string): Promise<void> {
  const { delayMs = 0, code } = fault ?? {}
  // The timer alone must not keep the process alive.
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
  if (code !== undefined) throw Object.assign(new Error(text), { responseCode: code })
}

/** A page that shows each mail as text and as HTML. The HTML is in a sandboxed frame, so nothing in it runs. */
function mailPage(mails: readonly ReceivedMail[]): string {
  const list = mails.length === 0 ? '<p>No mail.</p>' : mails.map(article).join('\n')
  return `<!DOCTYPE html>
<html lang="en"><head><title>Mail</title><meta http-equiv="refresh" content="5">
<style>body{font:15px sans-serif;max-width:60em;margin:2em auto}pre{background:#eee;padding:1em}iframe{width:100%;height:18em}</style>
</head><body><h1>Mail</h1>
${list}
</body></html>
`
}

function article({ to, from, subject, text, html, at }: ReceivedMail): string {
  return `<article><h2>${escaped(subject)}</h2>
<p>${escaped(at)} from ${escaped(from)} to <a href="?to=${encodeURIComponent(to)}">${escaped(to)}</a></p>
<pre>${escaped(text)}</pre>
<iframe sandbox srcdoc="${escaped(html)}"></iframe></article>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
