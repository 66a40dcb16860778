import { createTransport } from 'nodemailer'
import { ProviderError, type ProviderErrorKind } from '../../kernel/provider-error.js'
import type { Mail } from '../../ports/mail.js'

/** Waiting for a connection, the greeting, and then for each answer. */
const stepMs = 8000
/** A server that keeps a conversation alive for longer is asked again later. Less than the lease of a mail. */
const conversationMs = 20_000

export interface SmtpOptions {
  /** `smtp://user:password@host:port`, or `smtps://` for TLS from the first byte. */
  readonly url: string
  /** `address` or `Name <address>`. */
  readonly from: string
  /** Total deadline of one e-mail in ms. */
  readonly timeoutMs?: number
}

/**
 * Sends through an SMTP server (RFC 5321), encrypted whenever the server offers it (STARTTLS). A connection per
 * e-mail: a process that stops has no idle ones to close.
 */
export function createSmtp({ url, from, timeoutMs = conversationMs }: SmtpOptions): Mail {
  const transport = createTransport({
    url,
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = /@([^@>]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text, html }) {
      try {
        await transport.sendMail({
          from,
          // Not as one text: a list of addresses in it would become a list of recipients.
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          // RFC 3834: no vacation notice and no bounce of a robot answers it.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(timeoutMs),
        })
      } catch (error) {
        throw classified(error)
      }
    },
  }
}

/** What nodemailer says beside its message: its own code, the SMTP command under way, the server's reply code. */
interface SmtpFailure {
  readonly code: string
  readonly command: string
  readonly responseCode: number | undefined
  /** The system call that failed, when one did. */
  readonly syscall: string
}

function classified(error: unknown): ProviderError {
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
 * RFC 5321, 4.2.1: 5yz is final, 4yz a "come later". Final only where it is about this mail: a refused sender or
 * login is our own fault, and is put right without the mail being lost.
 */
function kindOf({ code, command, responseCode, syscall }: SmtpFailure): ProviderErrorKind {
  const aboutThisMail = command === 'RCPT TO' || command === 'DATA'
  if (responseCode !== undefined) return responseCode >= 500 && aboutThisMail ? 'rejected' : 'unavailable'
  const neverConnected = code === 'EDNS' || syscall === 'connect'
  return neverConnected ? 'unavailable' : 'ambiguous'
}
