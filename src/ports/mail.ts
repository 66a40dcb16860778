/** One e-mail to one person, in both forms: a client shows the one it can. */
export interface Email {
  /** Stable over all attempts: becomes the Message-ID. Letters, digits and hyphens. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The mail server that takes our e-mails. */
export interface Mail {
  /**
   * Resolves when the server has taken responsibility for the e-mail. Throws ProviderError: `rejected` when it
   * refuses this recipient or this content for good, `unavailable` when it surely has not taken it, `ambiguous`
   * when it may have. The message never quotes what the server said: servers quote addresses and content.
   */
  send(email: Email): Promise<void>
}
