import { createTransport } from 'nodemailer'
import { ProviderError, type ProviderErrorKind } from '../../kernel/provider-error.js'
import type { Mail } from '../../ports/mail.js'

/** Time limit of the connection, of the greeting and of each reply. */
const stepMs = 8000
/** A connection that sends nothing for so long is closed, so that a process that stops needs not close it. */
const idleMs = 1000
/** More than the e-mails that a mailer sends at the same time: none waits for another one's connection. */
const mostConnections = 64
/** Time limit of one e-mail. Shorter than the lease of an e-mail row. */
const conversationMs = 20_000

export interface SmtpOptions {
  /** `smtp://user:password@host:port`, or `smtps://` for TLS from the first byte. */
  readonly url: string
  /** `address` or `Name <address>`. */
  readonly from: string
  /** Total time limit of one e-mail in ms. */
  readonly timeoutMs?: number
}

/**
 * Sends through an SMTP server (RFC 5321), encrypted whenever the server offers it (STARTTLS). E-mails that follow each other share a
 * connection. One that the server closes before it got a byte of an e-mail is replaced, once.
 */
export function createSmtp({ url, from, timeoutMs = conversationMs }: SmtpOptions): Mail {
  const transport = createTransport({
    url,
    pool: true,
    idleTimeout: idleMs,
    maxConnections: mostConnections,
    maxRequeues: 1,
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = /@([^@>]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text, html, unsubscribeUrl }) {
      try {
        await transport.sendMail({
          from,
          // An object, because nodemailer would split a text with several addresses into several recipients.
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          headers: {
            // RFC 3834: suppresses automatic replies such as vacation notices.
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribeUrl !== undefined && {
              'List-Unsubscribe': `<${unsubscribeUrl}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            }),
          },
          signal: AbortSignal.timeout(timeoutMs),
        })
      } catch (error) {
        throw classify(error)
      }
    },
    async check() {
      try {
        await transport.verify()
      } catch (error) {
        throw classify(error)
      }
    },
  }
}

/** Fields of a nodemailer error: its own code, the current SMTP command, the server's reply code. */
interface SmtpFailure {
  readonly code: string
  readonly command: string
  readonly responseCode: number | undefined
  /** The system call that failed, or empty. */
  readonly syscall: string
}

function classify(error: unknown): ProviderError {
  const failure = failureOf(error)
  const { code, command, responseCode = '' } = failure
  return new ProviderError(kindOf(failure), `mail server: ${code} ${command} ${responseCode}`.trim())
}

function failureOf(error: unknown): SmtpFailure {
  const { code, command, responseCode, syscall } = (error ?? {}) as Record<string, unknown>
  const word = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    code: word(code),
    command: word(command),
    responseCode: typeof responseCode === 'number' ? responseCode : undefined,
    syscall: word(syscall),
  }
}

/**
 * RFC 5321, 4.2.1: 5yz is permanent, 4yz temporary. Only a reply about this e-mail is permanent for us: a refused
 * sender or login is our fault, and the e-mail is sent when it is corrected.
 */
function kindOf({ code, command, responseCode, syscall }: SmtpFailure): ProviderErrorKind {
  const aboutThisMail = command === 'RCPT TO' || command === 'DATA'
  if (responseCode !== undefined) return responseCode >= 500 && aboutThisMail ? 'rejected' : 'unavailable'
  const neverConnected = code === 'EDNS' || syscall === 'connect'
  return neverConnected ? 'unavailable' : 'ambiguous'
}
