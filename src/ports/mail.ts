/** One e-mail to one person, as text and as HTML. */
export interface Email {
  /** Becomes the Message-ID, the same in every attempt. Letters, digits and hyphens. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Turns such e-mails off when it is posted to (RFC 8058). */
  readonly unsubscribeUrl?: string | undefined
}

/** The mail server that accepts our e-mails. */
export interface Mail {
  /**
   * Resolves when the server has accepted the e-mail. Throws ProviderError: `rejected` when it permanently refuses this
   * recipient or content, `unavailable` when it surely has not accepted it, `ambiguous` when it may have. The error
   * message never quotes the server's reply, which may contain addresses and content.
   */
  send(email: Email): Promise<void>
  /** Connects and signs in, and sends nothing. Throws ProviderError when that fails. */
  check(): Promise<void>
}
